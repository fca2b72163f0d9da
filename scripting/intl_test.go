package scripting

import "testing"

// TestIntl compares expressions of Intl with the results of ICU.
func TestIntl(t *testing.T) {
	p := newPool(t, Limits{})
	const moment = `const d = new Date(Date.UTC(2024, 2, 5, 15, 4, 9, 123)); return `
	for _, c := range []struct{ code, want string }{
		{`[d.toLocaleDateString(), d.toLocaleTimeString(), d.toLocaleString('en-US')]`, `["3/5/2024","3:04:09 PM","3/5/2024, 3:04:09 PM"]`},
		{`['en-GB', 'de-DE', 'fr', 'ja-JP', 'sv', 'pt-BR'].map(l => d.toLocaleDateString(l))`, `["05/03/2024","5.3.2024","05/03/2024","2024/3/5","2024-03-05","05/03/2024"]`},
		{`d.toLocaleDateString('en-US', { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' })`, `"Tuesday, March 5, 2024"`},
		{`d.toLocaleDateString('de', { weekday: 'short', month: 'short', day: '2-digit' })`, `"Di., 05. März"`},
		{`d.toLocaleDateString('ru', { month: 'long', day: 'numeric' }) + ' ' + d.toLocaleDateString('ru', { month: 'long', year: 'numeric' })`, `"5 марта март 2024 г."`},
		{`d.toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit' })`, `"03:04 PM"`},
		{`d.toLocaleTimeString([], { hour: 'numeric', minute: '2-digit', hourCycle: 'h23' })`, `"15:04"`},
		{`d.toLocaleString('en-US', { timeZone: 'America/New_York', dateStyle: 'medium', timeStyle: 'short' })`, `"Mar 5, 2024, 10:04 AM"`},
		{`d.toLocaleString('en-US', { timeZone: 'Asia/Kathmandu', timeStyle: 'long' })`, `"8:49:09 PM GMT+5:45"`},
		{`new Intl.DateTimeFormat('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit', timeZone: 'Europe/Berlin' }).format(d)`, `"2024-03-05"`},
		{`new Intl.DateTimeFormat('en-US', { dateStyle: 'full' }).formatToParts(d).map(p => p.type).join()`, `"weekday,literal,month,literal,day,literal,year"`},
		{`new Intl.DateTimeFormat().resolvedOptions().timeZone`, `"UTC"`},
		{`Intl.DateTimeFormat('en', { fractionalSecondDigits: 3, second: 'numeric' }).format(d)`, `"9.123"`},
		{`String(new Date(0))`, `"Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"`},
		{`[(1234567.891).toLocaleString(), (1234567.891).toLocaleString('de-DE'), (1234567.891).toLocaleString('en-IN'), (1234).toLocaleString('es'), 12345678901234567890n.toLocaleString()]`,
			`["1,234,567.891","1.234.567,891","12,34,567.891","1234","12,345,678,901,234,567,890"]`},
		{`(1.005).toLocaleString('en-US', { maximumFractionDigits: 2 })`, `"1.01"`},
		{`[-5.5, 0].map(n => n.toLocaleString('en-US', { style: 'currency', currency: 'USD' }))`, `["-$5.50","$0.00"]`},
		{`[(9.9).toLocaleString('de', { style: 'currency', currency: 'EUR' }), (1e4).toLocaleString('ja', { style: 'currency', currency: 'JPY' }), (5).toLocaleString('en-US', { style: 'currency', currency: 'CHF' })]`,
			"[\"9,90\u00a0€\",\"￥10,000\",\"CHF\u00a05.00\"]"},
		{`new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR', currencyDisplay: 'name' }).format(2)`, `"2.00 euros"`},
		{`[0.256, 12].map(n => n.toLocaleString('fr', { style: 'percent' }))`, "[\"26\u00a0%\",\"1\u202f200\u00a0%\"]"},
		{`[999, 1234, 15300, 999999, 2.5e9].map(n => new Intl.NumberFormat('en', { notation: 'compact' }).format(n))`, `["999","1.2K","15K","1M","2.5B"]`},
		{`new Intl.NumberFormat('de', { notation: 'compact', compactDisplay: 'long' }).format(2.3e6)`, `"2,3 Millionen"`},
		{`[0.00012345, 123456].map(n => n.toLocaleString('en', { maximumSignificantDigits: 3 }))`, `["0.000123","123,000"]`},
		{`[5, -5, 0].map(n => new Intl.NumberFormat('en', { signDisplay: 'exceptZero' }).format(n))`, `["+5","-5","0"]`},
		{`[new Intl.NumberFormat('en', { style: 'unit', unit: 'kilometer-per-hour' }).format(50), new Intl.NumberFormat('de', { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(1)]`, `["50 km/h","1 Tag"]`},
		{`[0, 1, 2, 5, 21].map(n => new Intl.PluralRules('ru').select(n))`, `["many","one","few","many","one"]`},
		{`[1, 2, 3, 4, 11, 112].map(n => new Intl.PluralRules('en', { type: 'ordinal' }).select(n))`, `["one","two","few","other","other","other"]`},
		{`[[-1, 'day'], [2, 'weeks'], [0, 'year']].map(([n, u]) => new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(n, u))`, `["yesterday","in 2 weeks","this year"]`},
		{`[new Intl.RelativeTimeFormat('de').format(-3, 'month'), new Intl.RelativeTimeFormat('pl').format(5, 'hour')]`, `["vor 3 Monaten","za 5 godzin"]`},
		{`[['a'], ['a', 'b'], ['a', 'b', 'c']].map(l => new Intl.ListFormat('en').format(l))`, `["a","a and b","a, b, and c"]`},
		{`['z', 'ä', 'a'].sort(new Intl.Collator('de').compare).join() + ['z', 'ä', 'a'].sort((a, b) => a.localeCompare(b, 'sv')).join()`, `"a,ä,za,z,ä"`},
		{`['a10', 'a9', 'A1'].sort(new Intl.Collator('en', { numeric: true }).compare)`, `["A1","a9","a10"]`},
		{`['a'.localeCompare('A', undefined, { sensitivity: 'base' }), 'a'.localeCompare('á', 'en', { sensitivity: 'base' }), 'a'.localeCompare('b')]`, `[0,0,-1]`},
		{`[Intl.getCanonicalLocales('EN-us'), new Intl.NumberFormat('xx-YY').resolvedOptions().locale, Intl.NumberFormat.supportedLocalesOf(['de', 'xx'])]`, `[["en-US"],"en-US",["de"]]`},
		{`[String(new Intl.NumberFormat()), Intl.DateTimeFormat() instanceof Intl.DateTimeFormat, typeof Intl]`, `["[object Intl.NumberFormat]",true,"object"]`},
		{`[() => new Intl.DateTimeFormat('en', { timeZone: 'Mars/Base' }), () => new Intl.NumberFormat('en', { style: 'currency' }), () => new Intl.NumberFormat('x'), () => new Intl.DateTimeFormat().format(NaN)].map(f => { try { f() } catch (e) { return e.name + ': ' + e.message } })`,
			`["RangeError: Invalid time zone specified: Mars/Base","TypeError: Currency code is required with currency style.","RangeError: Incorrect locale information provided","RangeError: Invalid time value"]`},
		{`[[1.5, new Date(0)].toLocaleString('de'), new Date(NaN).toLocaleString()]`, `["1,5,1.1.1970, 00:00:00","Invalid Date"]`},
	} {
		if got := mustSucceed(t, p, newWorld(), moment+c.code); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.code, got, c.want)
		}
	}
}

// TestIntlNames checks that a locale name from a script cannot reach a file or
// another part of the host.
func TestIntlNames(t *testing.T) {
	p := newPool(t, Limits{})
	for _, code := range []string{
		`new Intl.DateTimeFormat('en', { timeZone: '../../etc/passwd' })`, `new Intl.DateTimeFormat('en', { timeZone: 'Local' })`, `new Intl.DateTimeFormat('en', { timeZone: '' })`,
		`new Intl.NumberFormat('../extras/url')`, `new Intl.NumberFormat('en\u0000')`,
	} {
		if res := run(t, p, newWorld(), code); res.Status != StatusFailed || res.Err.Name != "RangeError" {
			t.Errorf("%s: %s %v", code, res.Status, res.Err)
		}
	}
	if got := mustSucceed(t, p, newWorld(), `return ['europe/berlin', 'America/port-au-prince', 'gmt', '+05:30', 'America/Argentina/Buenos_Aires'].map(timeZone => new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone)`); got != `["Europe/Berlin","America/Port-au-Prince","UTC","+05:30","America/Argentina/Buenos_Aires"]` {
		t.Errorf("got %s", got)
	}
}
