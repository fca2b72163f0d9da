package automation_test

import "testing"

// TestEmulationOfWorkers checks that a page's workers have the page's emulation.
func TestEmulationOfWorkers(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.openIn(params{"userAgent": "me/1", "locale": "fr-FR", "timezoneId": "Asia/Tokyo"})
	r.do("frame.goto", params{"url": s.URL}, nil)
	var out struct{ Value struct{ S string } }
	r.do("frame.evaluate", params{"isFunction": true, "expression": `() => new Promise(f => {
		const code = 'postMessage([navigator.userAgent, navigator.language, (1234.5).toLocaleString(), Intl.DateTimeFormat().resolvedOptions().timeZone].join("|"))';
		new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))).onmessage = e => f(e.data);
	})`}, &out)
	equal(t, "the worker", out.Value.S, "me/1|fr-FR|1\u202f234,5|Asia/Tokyo")
	// Workers do not support these settings. A page with a worker still gets them.
	r.do("page.emulateMedia", params{"colorScheme": "dark"}, nil)
	r.do("context.setGeolocation", params{"geolocation": params{"latitude": 1, "longitude": 2}}, nil)
}
