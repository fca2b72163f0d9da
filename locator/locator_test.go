package locator

import "testing"

func TestOf(t *testing.T) {
	for selector, want := range map[string]string{
		`internal:role=button[name="Sign in"i]`:                          `getByRole('button', { name: 'Sign in' })`,
		`internal:role=button[name="Sign in"s]`:                          `getByRole('button', { name: 'Sign in', exact: true })`,
		`internal:role=checkbox[checked=true][name=/new/i]`:              `getByRole('checkbox', { checked: true, name: new RegExp('new', 'i') })`,
		`internal:role=heading`:                                          `getByRole('heading')`,
		`internal:label="It's \"me\""i`:                                  `getByLabel('It\'s "me"')`,
		`internal:text="a ]"s`:                                           `getByText('a ]', { exact: true })`,
		`internal:text=/^a/i`:                                            `getByText(new RegExp('^a', 'i'))`,
		`internal:attr=[placeholder="you@example.com"i]`:                 `getByPlaceholder('you@example.com')`,
		`internal:attr=[alt="A cat"s]`:                                   `getByAltText('A cat', { exact: true })`,
		`internal:attr=[title="Close"i]`:                                 `getByTitle('Close')`,
		`internal:testid=[data-testid="total"s]`:                         `getByTestId('total')`,
		`internal:role=listitem >> internal:has-text="Two"i >> nth=0`:    `getByRole('listitem').filter({ hasText: 'Two' }).first()`,
		`#menu >> nth=-1`:                                                `locator('#menu').last()`,
		`css=li >> nth=3`:                                                `locator('li').nth(3)`,
		`iframe >> internal:control=enter-frame >> internal:text="Pay"i`: `locator('iframe').contentFrame().getByText('Pay')`,
		`a[href='x\y']`:                                                  `locator('a[href=\'x\\y\']')`,
		`internal:label="broken`:                                         `locator('internal:label="broken')`,
		`internal:role=button[name="`:                                    `locator('internal:role=button[name="')`,
		`internal:role=button[name="x"i]'); process.exit(); ('`:          `locator('internal:role=button[name="x"i]\'); process.exit(); (\'')`,
		`internal:role=button[name=x + steal()]`:                         `locator('internal:role=button[name=x + steal()]')`,
		`internal:role=a', { name: evil() })`:                            `getByRole('a\', { name: evil() })')`,
		"internal:text=/a/ + evil()/":                                    `locator('internal:text=/a/ + evil()/')`,
		`internal:testid=[data-testid="a >> internal:role=b[name=/[/] >> ]/ });import(1)//"s]`: `getByTestId('a >> internal:role=b[name=/[/] >> ]/ });import(1)//')`,
		`internal:role=b[name=/[/] >> ]/ });import(1)//`:                                       `getByRole('b', { name: new RegExp('[') }).locator(']/ });import(1)//')`,
		`internal:role=a[include-hidden=true]`:                                                 `getByRole('a', { includeHidden: true })`,
		`internal:text="a >> b"i >> nth=1`:                                                     `getByText('a >> b').nth(1)`,
		`css=input >> internal:or="internal:role=combobox[name=\"City\"i]"`:                    `locator('input').or(getByRole('combobox', { name: 'City' }))`,
		`li >> internal:has="internal:text=\"a >> b\"i" >> nth=0`:                              `locator('li').filter({ has: getByText('a >> b') }).first()`,
		`li >> internal:has-not="a >> internal:and=\"b\""`:                                     `locator('li').filter({ hasNot: locator('a').and(locator('b')) })`,
		`li >> internal:has-not-text="Two"i >> visible=true`:                                   `locator('li').filter({ hasNotText: 'Two' }).filter({ visible: true })`,
		`internal:or="x'); evil(); ('"`:                                                        `or(locator('x\'); evil(); (\''))`,
		`li >> internal:or=x + evil()`:                                                         `locator('li').locator('internal:or=x + evil()')`,
		`iframe >> internal:control=enter-frame >> a >> internal:or="b"`:                       `locator('iframe').contentFrame().locator('a').or(locator('b'))`,
		"internal:text=/a\r\u2028b/":                                                           "getByText(new RegExp('a\\r\\u2028b'))",
	} {
		if got := Of(selector); got != want {
			t.Errorf("%s is %s, want %s", selector, got, want)
		}
	}
}
