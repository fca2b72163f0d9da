package scripting_test

import "testing"

func TestPicturesAndPDF(t *testing.T) {
	cases(t, []struct{ name, code, want string }{
		{"mask and style", `
			await page.setViewportSize({ width: 100, height: 100 });
			await page.setContent('<body style="margin:0;background:white"><div id=a style="width:20px;height:20px;background:black"></div><iframe style="border:0;width:100px;height:50px" srcdoc="<body style=margin:0><p style=&quot;width:20px;height:20px;background:black;margin:0&quot;>"></iframe>');
			await page.frameLocator('iframe').locator('p').waitFor();
			const pixel = async (options, x, y) => page.evaluate(async ([b, x, y]) => {
				const c = document.createElement('canvas').getContext('2d');
				c.drawImage(await createImageBitmap(await (await fetch('data:image/png;base64,' + b)).blob()), 0, 0);
				return [...c.getImageData(x, y, 1, 1).data].join();
			}, [(await page.screenshot(options)).toString('base64'), x, y]);
			const mask = [page.locator('#a'), page.frameLocator('iframe').locator('p')];
			return [await pixel({}, 5, 5), await pixel({ mask }, 5, 5), await pixel({ mask, maskColor: 'rgb(0, 255, 0)' }, 5, 30), await pixel({ mask, fullPage: true }, 50, 50),
				await pixel({ style: 'p, #a { background: blue !important }' }, 5, 30), await pixel({}, 5, 30), await page.evaluate(() => document.querySelectorAll('html > div').length)]`,
			`["0,0,0,255","255,0,255,255","0,255,0,255","255,255,255,255","0,0,255,255","0,0,0,255",0]`},
		{"types by path", `
			await page.setContent('<p>x');
			const jpeg = await page.screenshot({ path: 'a.jpg' }), webp = await page.locator('p').screenshot({ path: 'b.webp' });
			return [jpeg.readUInt16BE(0).toString(16), webp.subarray(8, 12).toString(), await page.screenshot({ path: 'c.txt' }).catch(e => e.message),
				await page.screenshot({ quality: 5 }).catch(e => e.message), await page.screenshot({ clip: { x: 0, y: 0, width: 0, height: 5 } }).catch(e => e.message)]`,
			`["ffd8","WEBP","page.screenshot: path: unsupported mime type \"txt\"","page.screenshot: options.quality is unsupported for the png screenshots","page.screenshot: Expected options.clip.width to be greater than 0."]`},
		{"pdf", `
			await page.setContent('<h1>Report</h1><p style="page-break-before: always">2');
			const box = async o => /MediaBox \[(.*?)\]/.exec((await page.pdf(o)).toString('latin1'))[1].replace(/\.\d+/g, '').trim();
			const whole = await page.pdf({ path: 'report.pdf' });
			await page.setContent('<input type=file>');
			await page.setInputFiles('input', 'report.pdf');
			return [whole.subarray(0, 4).toString(), await box({}), await box({ format: 'A4' }), await box({ format: 'a4', landscape: true }), await box({ width: '96px', height: '2in' }), await box({ width: 192, height: '25.4mm' }),
				await page.locator('input').evaluate((i, n) => i.files[0].size === n, whole.length),
				await page.pdf({ format: 'x' }).catch(e => e.message), await page.pdf({ width: 'wide' }).catch(e => e.message)]`,
			`["%PDF","0 0 612 792","0 0 595 842","0 0 842 595","0 0 72 144","0 0 144 72",true,"page.pdf: Unknown paper format: x","page.pdf: Failed to parse parameter value: wide"]`},
		{"garbage", `
			await page.evaluate(() => { window.ref = new WeakRef({}); });
			await page.requestGC();
			return page.evaluate(() => ref.deref() === undefined)`,
			`true`},
	})
}
