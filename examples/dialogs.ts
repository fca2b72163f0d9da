// Dialogs: the script notes what they ask, and answers each in its own way.
await page.goto(`${args?.base ?? 'http://127.0.0.1:8080'}/demo/notes`);
const said: string[] = [];
page.on('dialog', async dialog => {
  said.push(`${dialog.type()}: ${dialog.message()}`);
  if (dialog.type() === 'prompt') await dialog.accept('Oat milk');
  else if (dialog.message().includes('Bread')) await dialog.dismiss();
  else await dialog.accept();
});
await page.getByRole('button', { name: 'Rename Milk' }).click();
await page.getByRole('button', { name: 'Delete Bread' }).click();
await page.getByRole('button', { name: 'Delete Tea' }).click();
await expect(page.getByRole('status')).toHaveText('Deleted');
return { said, left: await page.locator('#notes li > span').allTextContents() };
