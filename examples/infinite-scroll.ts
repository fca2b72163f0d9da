// Reading a list that grows as you scroll, until nothing more comes.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/feed`);
const notes = page.locator('#feed li');
await expect(notes).not.toHaveCount(0);
while (!(await page.getByText('That was all').isVisible())) {
  const before = await notes.count();
  await notes.last().scrollIntoViewIfNeeded();
  await page.mouse.wheel(0, 2000);
  await expect.poll(() => notes.count()).toBeGreaterThan(before).catch(() => {}); // fails at the end of the list
}
const texts = await notes.allTextContents();
return { count: texts.length, first: texts[0], last: texts.at(-1) };
