package scripting_test

import (
	"testing"
)

// TestExpectExtend checks matchers that a script defines.
func TestExpectExtend(t *testing.T) {
	got := lines(t, `
		const { mergeExpects } = require('@playwright/test');
		const odd = expect.extend({
			toBeOdd(n) { return { pass: n % 2 === 1, message: () => 'odd ' + this.utils.printReceived(n) + ' ' + [this.isNot, this.promise, this.timeout] }; },
			async toBeFoo(received, ...args) { return { name: 'toBeFoo', pass: received === 'foo', expected: 'foo', actual: received, message: () => this.utils.matcherHint('toBeFoo', undefined, undefined, { isNot: this.isNot, promise: this.promise }) + JSON.stringify(args) }; },
			wrong() { return 5; },
			silent() { return { pass: false }; },
			throws() { throw new Error('inside'); },
			same(a, b) { return { pass: this.equals(a, b), message: () => this.utils.printDiffOrStringify(b, a, 'Wanted', 'Got') }; },
			differs(a, b) { return { pass: false, message: () => this.utils.diff(b, a) + '|' + this.utils.printWithType('Received', a, this.utils.printReceived) }; },
		});
		await run('odd', () => odd(3).toBeOdd());
		await run('not odd', () => odd(2).toBeOdd());
		await run('not', () => odd(3).not.toBeOdd());
		await run('says more', () => odd(2, 'mine').toBeOdd());
		await run('resolves', () => odd(Promise.resolve('bar')).resolves.toBeFoo(1, { x: 2 }));
		await run('everywhere', () => expect(2).toBeOdd());
		await run('at once', async () => typeof odd(3).toBeOdd());
		await run('wrong', () => odd(2).wrong());
		await run('silent', () => odd(2).silent());
		await run('throws', () => odd(2).throws());
		await run('same', () => odd({ a: 1 }).same({ a: 2 }));
		await run('differs', () => odd({ a: 1 }).differs({ a: 2 }));
		await run('inside a value', () => odd({ a: 2 }).toEqual({ a: odd.toBeOdd() }));
		await run('inside a value, not', () => odd({ a: 3 }).toEqual({ a: odd.not.toBeOdd() }));
		await run('polled', () => odd.poll(() => 2, { timeout: 30 }).toBeOdd());
		const other = expect.extend({ toBeOdd: () => ({ pass: false, message: () => 'other' }), toBeDefined: () => ({ pass: false, message: () => 'own' }) });
		await run('first', () => odd(2).toBeOdd());
		await run('second', () => other(2).toBeOdd());
		await run('last', () => expect(2).toBeOdd());
		await run('built in', () => expect(2).toBeDefined());
		await run('own', () => other(2).toBeDefined());
		await run('merged', () => mergeExpects(other, odd)(2).toBeOdd());
		await run('merged as well', () => mergeExpects(other, odd)(2).toBeDefined());
		await run('configured', () => odd.configure({ message: 'mine' })(2).toBeOdd());
		await run('result', async () => { try { await odd('x').toBeFoo(); } catch (e) { return e.matcherResult; } });
		await run('page result', async () => { try { await expect(page.locator('x')).toHaveText('y', { timeout: 300 }); } catch (e) { const { message, log, ariaSnapshot, ...rest } = e.matcherResult; return [rest, log[0], typeof ariaSnapshot, e.message === message, e.constructor.name, e.name]; } });`)
	want := `odd: "passes"
not odd: Error: odd 2 false,,5000
not: Error: odd 3 true,,5000
says more: Error: mine

odd 2 false,,5000
resolves: Error: expect(received).resolves.toBeFoo(expected)[1,{"x":2}]
everywhere: Error: odd 2 false,,5000
at once: "undefined"
wrong: Error: Unexpected return from a matcher function.
Matcher functions should return an object in the following format:
  {message?: string | function, pass: boolean}
'5' was returned
silent: Error: No message was specified for this matcher.
throws: Error: inside
same: Error: - Wanted  - 1
+ Got     + 1

  Object {
-   "a": 2,
+   "a": 1,
  }
differs: Error: - Expected
+ Received

  Object {
-   "a": 2,
+   "a": 1,
  }|Received has type:  object
Received has value: {"a": 1}
inside a value: Error: expect(received).toEqual(expected) // deep equality

- Expected  - 1
+ Received  + 1

  Object {
-   "a": toBeOdd<>,
+   "a": 2,
  }
inside a value, not: Error: expect(received).toEqual(expected) // deep equality

- Expected  - 1
+ Received  + 1

  Object {
-   "a": not.toBeOdd<>,
+   "a": 3,
  }
polled: Error: odd 2 false,,5000

Call Log:
- Timeout 30ms exceeded while waiting on the predicate
first: Error: odd 2 false,,5000
second: Error: other
last: Error: other
built in: "passes"
own: Error: own
merged: Error: odd 2 false,,5000
merged as well: Error: own
configured: Error: mine

odd 2 false,,5000
result: {"name":"toBeFoo","pass":false,"expected":"foo","actual":"x","message":"expect(received).toBeFoo(expected)[]"}
page result: [{"name":"toHaveText","pass":false,"expected":"y","timeout":300},"  - Expect \"toHaveText\" locator('x') with timeout 300ms","string",true,"ExpectError","Error"]`
	if got != want {
		t.Errorf("got\n%s\n\nwant\n%s", got, want)
	}
}
