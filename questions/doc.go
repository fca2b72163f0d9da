// Package questions is about what pages ask people: JavaScript dialogs, file
// choosers, sign-ins that servers and proxies want, permissions, and the pickers
// that Chromium opens over fields.
//
// One rule says when a question ends, for all kinds. The first of these ends it,
// once, and takes it back from every viewer who was asked:
//
//   - A person answers it.
//   - The document that asks goes: the page shows another one, the page closes, or
//     its renderer crashes.
//   - The browser dies or the session ends.
//   - Nobody is left who may answer, and the page waits. The page then gets a no,
//     because it must never hang on a question that nobody sees. Questions that no
//     page waits for stay for the next person.
//
// A picker also ends when control changes hands or another tab is shown: it belongs
// to the person who opened it.
//
// register.go holds the rule. Each kind has a file of its own.
package questions
