// https://playwright.dev/docs/actionability
import { test, expect } from '@playwright/test';

const clicks = `<button onclick="window.clicks = (window.clicks || 0) + 1">Go</button>`;

/** Time (ms) in which even a busy machine checks the element more than once, so that the log says what it waited for. */
const TOLD = 2_500;

test.describe('what click waits for', () => {
  test('an element that is not there yet', async ({ page }) => {
    await page.setContent(`<div id="root"></div>`);
    await page.evaluate(html => setTimeout(() => { document.querySelector('#root')!.innerHTML = html; }, 100), clicks);
    await page.getByRole('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
  });

  test('an element that is hidden by display', async ({ page }) => {
    await page.setContent(`<div id="box" style="display:none">${clicks}</div>`);
    await page.evaluate(() => setTimeout(() => { document.getElementById('box')!.style.display = 'block'; }, 100));
    await page.locator('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
  });

  test('an element that is hidden by visibility', async ({ page }) => {
    await page.setContent(`<div id="box" style="visibility:hidden">${clicks}</div>`);
    await page.evaluate(() => setTimeout(() => { document.getElementById('box')!.style.visibility = 'visible'; }, 100));
    await page.locator('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
  });

  test('an element that is disabled', async ({ page }) => {
    await page.setContent(`<button disabled onclick="window.clicks = 1">Go</button>`);
    await page.evaluate(() => setTimeout(() => { document.querySelector('button')!.disabled = false; }, 100));
    await page.locator('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
  });

  test('an element in a disabled fieldset', async ({ page }) => {
    await page.setContent(`<fieldset disabled><button onclick="window.clicks = 1">Go</button></fieldset>`);
    await page.evaluate(() => setTimeout(() => { document.querySelector('fieldset')!.disabled = false; }, 100));
    await page.locator('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
  });

  test('an element under aria-disabled', async ({ page }) => {
    await page.setContent(`<div id="box" aria-disabled="true"><div role="button" onclick="window.clicks = 1">Go</div></div>`);
    const error = await page.getByRole('button').click({ timeout: TOLD }).catch((e: Error) => e);
    expect((error as Error).message).toContain('element is not enabled');
  });

  test('an element that moves', async ({ page }) => {
    await page.setContent(`<style>@keyframes go { from { left: 0 } to { left: 300px } } button { position: absolute; animation: go 300ms linear forwards }</style>
      <button onclick="window.left = this.getBoundingClientRect().left">Go</button>`);
    await page.locator('button').click();
    expect(await page.evaluate('window.left')).toBe(300);
  });

  test('an element under another one', async ({ page }) => {
    await page.setContent(`${clicks}<div id="veil" style="position:fixed;inset:0;background:#0008" onclick="window.veiled = true"></div>`);
    await page.evaluate(() => setTimeout(() => document.getElementById('veil')!.remove(), 150));
    await page.locator('button').click();
    expect(await page.evaluate('[window.clicks, window.veiled]')).toEqual([1, undefined]);
  });

  test('an element that is replaced while waiting', async ({ page }) => {
    await page.setContent(`<div id="root"><button disabled>Go</button></div>`);
    await page.evaluate(html => setTimeout(() => { document.querySelector('#root')!.innerHTML = html; }, 100), clicks);
    await page.locator('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
  });
});

test.describe('errors', () => {
  test('timeout tells what was waited for', async ({ page }) => {
    await page.setContent('<p>nothing</p>');
    const error = await page.getByRole('button', { name: 'Save' }).click({ timeout: 200 }).catch((e: Error) => e) as Error;
    expect(error.name).toBe('TimeoutError');
    expect(error.message).toContain('locator.click: Timeout 200ms exceeded.');
    expect(error.message).toContain('Call log:');
    expect(error.message).toContain(`waiting for getByRole('button', { name: 'Save' })`);
  });

  test('a covered element names what intercepts', async ({ page }) => {
    await page.setContent(`${clicks}<div id="veil" style="position:fixed;inset:0"></div>`);
    const error = await page.locator('button').click({ timeout: TOLD }).catch((e: Error) => e) as Error;
    expect(error.message).toContain('<div id="veil"></div> intercepts pointer events');
    expect(await page.evaluate('window.clicks')).toBe(undefined);
  });

  test('a covered element names the subtree that intercepts', async ({ page }) => {
    await page.setContent(`${clicks}<div id="veil" style="position:fixed;inset:0"><p style="height:100%;margin:0">over</p></div>`);
    const error = await page.locator('button').click({ timeout: TOLD }).catch((e: Error) => e) as Error;
    expect(error.message).toContain('<p>over</p> from <div id="veil">…</div> subtree intercepts pointer events');
  });

  test('a disabled element is told', async ({ page }) => {
    await page.setContent('<button disabled>Go</button>');
    const error = await page.locator('button').click({ timeout: TOLD }).catch((e: Error) => e) as Error;
    expect(error.message).toContain('waiting for element to be visible, enabled and stable');
    expect(error.message).toContain('element is not enabled');
    expect(error.message).toContain('locator resolved to <button disabled>Go</button>');
  });

  test('an invisible element is told', async ({ page }) => {
    await page.setContent('<button style="display:none">Go</button>');
    const error = await page.locator('button').click({ timeout: TOLD }).catch((e: Error) => e) as Error;
    expect(error.message).toContain('element is not visible');
  });

  test('fill of something that takes no text', async ({ page }) => {
    await page.setContent('<p>text</p>');
    const error = await page.locator('p').fill('x').catch((e: Error) => e) as Error;
    expect(error.message).toContain('Element is not an <input>, <textarea>, <select> or [contenteditable] and does not have a role allowing [aria-readonly]');
  });

  test('fill of a number field with letters', async ({ page }) => {
    await page.setContent('<input type="number">');
    const error = await page.locator('input').fill('abc').catch((e: Error) => e) as Error;
    expect(error.message).toContain('Cannot type text into input[type=number]');
  });

  test('fill of a checkbox', async ({ page }) => {
    await page.setContent('<input type="checkbox">');
    const error = await page.locator('input').fill('abc').catch((e: Error) => e) as Error;
    expect(error.message).toContain('Input of type "checkbox" cannot be filled');
  });

  test('check of something else', async ({ page }) => {
    await page.setContent('<p>text</p>');
    const error = await page.locator('p').check().catch((e: Error) => e) as Error;
    expect(error.message).toContain('Not a checkbox or radio button');
  });
});

test.describe('options', () => {
  test('force clicks what is covered', async ({ page }) => {
    await page.setContent(`${clicks}<div style="position:fixed;inset:0" onclick="window.veiled = true"></div>`);
    await page.locator('button').click({ force: true });
    expect(await page.evaluate('[window.clicks, window.veiled]')).toEqual([undefined, true]);
  });

  test('force does not wait for enabled', async ({ page }) => {
    await page.setContent(`<button disabled onclick="window.clicks = 1">Go</button>`);
    await page.locator('button').click({ force: true });
    expect(await page.evaluate('window.clicks')).toBe(undefined);
  });

  test('trial does the checks and no click', async ({ page }) => {
    await page.setContent(clicks);
    await page.locator('button').click({ trial: true });
    expect(await page.evaluate('window.clicks')).toBe(undefined);
    await page.setContent('<button disabled>Go</button>');
    await expect(page.locator('button').click({ trial: true, timeout: 300 })).rejects.toThrow('Timeout 300ms exceeded');
  });

  test('position is from the corner of the padding box', async ({ page }) => {
    await page.setContent(`<div style="width:100px;height:80px;border:5px solid" onclick="window.at = [event.offsetX, event.offsetY]"></div>`);
    await page.locator('div').click({ position: { x: 10, y: 20 } });
    expect(await page.evaluate('window.at')).toEqual([10, 20]);
  });

  test('scrolls into view first', async ({ page }) => {
    await page.setContent(`<div style="height:3000px"></div>${clicks}`);
    await page.locator('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
    expect(await page.evaluate('scrollY')).toBeGreaterThan(1000);
  });

  test('scrolls from under a sticky header', async ({ page }) => {
    await page.setContent(`<body style="margin:0"><div style="position:sticky;top:0;height:200px;background:#eee">head</div><div style="height:2000px"></div>
      ${clicks}<div style="height:2000px"></div>`);
    await page.evaluate(() => scrollTo(0, 2000));
    await page.locator('button').click();
    expect(await page.evaluate('window.clicks')).toBe(1);
  });

  test('noWaitAfter is accepted', async ({ page }) => {
    await page.setContent(clicks);
    await page.locator('button').click({ noWaitAfter: true });
    expect(await page.evaluate('window.clicks')).toBe(1);
  });
});

test.describe('states that can be asked for', () => {
  test('isVisible: empty box, opacity and zero size', async ({ page }) => {
    await page.setContent(`<p id="a">text</p><p id="b" style="opacity:0">text</p><p id="c" style="display:none">text</p><i id="d" style="display:inline-block"></i><p id="e" style="visibility:hidden">text</p>`);
    const seen: boolean[] = [];
    for (const id of 'abcde') seen.push(await page.locator('#' + id).isVisible());
    expect(seen).toEqual([true, true, false, false, false]);
    expect(await page.locator('#none').isVisible()).toBe(false);
    expect(await page.locator('#none').isHidden()).toBe(true);
  });

  test('isEnabled, isDisabled, isEditable', async ({ page }) => {
    await page.setContent(`<input id="a"><input id="b" disabled><input id="c" readonly><select id="d" disabled></select><fieldset disabled><legend><input id="e"></legend><input id="f"></fieldset>`);
    const enabled: boolean[] = [];
    for (const id of 'abcdef') enabled.push(await page.locator('#' + id).isEnabled());
    expect(enabled).toEqual([true, false, true, false, true, false]);
    expect(await page.locator('#b').isDisabled()).toBe(true);
    expect([await page.locator('#a').isEditable(), await page.locator('#b').isEditable(), await page.locator('#c').isEditable()]).toEqual([true, false, false]);
  });

  test('isChecked of checkbox, radio and role', async ({ page }) => {
    await page.setContent(`<input type="checkbox" id="a" checked><input type="radio" id="b"><div role="switch" aria-checked="true" id="c"></div>`);
    expect([await page.locator('#a').isChecked(), await page.locator('#b').isChecked(), await page.locator('#c').isChecked()]).toEqual([true, false, true]);
  });

  test('waitForElementState of a handle', async ({ page }) => {
    await page.setContent('<button disabled>Go</button>');
    const button = (await page.$('button'))!;
    await page.evaluate(() => setTimeout(() => { document.querySelector('button')!.disabled = false; }, 80));
    await button.waitForElementState('enabled');
    await button.waitForElementState('visible');
    await button.waitForElementState('stable');
    expect(await button.isEnabled()).toBe(true);
  });
});
