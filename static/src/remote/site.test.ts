import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf, siteOf } from './site.js';

test('an address has a host, and a lock only if it is encrypted', () => {
  assert.deepEqual(placeOf('https://login.example.com/a?b'), { host: 'login.example.com', secure: true });
  assert.deepEqual(placeOf('http://127.0.0.1:8080/'), { host: '127.0.0.1:8080', secure: false });
  assert.deepEqual(placeOf('about:blank'), { host: '', secure: false });
  assert.deepEqual(placeOf('not an address'), { host: '', secure: false });
});

test('hosts of one site are told from those of another', () => {
  assert.equal(siteOf('login.example.com'), siteOf('www.example.com'));
  assert.notEqual(siteOf('example.com.evil.net'), siteOf('example.com'));
  assert.notEqual(siteOf('shop.co.uk'), siteOf('bank.co.uk'));
  assert.equal(siteOf('a.bank.co.uk'), 'bank.co.uk');
  assert.notEqual(siteOf('10.0.0.1'), siteOf('10.1.0.1'));
  assert.notEqual(siteOf('localhost:1'), siteOf('localhost:2'));
  assert.equal(siteOf('[::1]:80'), '[::1]:80');
});
