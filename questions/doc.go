// Package questions handles what pages ask people: JavaScript dialogs, file
// choosers, sign-ins for servers and proxies, permissions, and the pickers that
// Chromium opens for fields.
//
// One rule says when a question ends, whatever its kind. The first of the
// following events ends it, and withdraws it from every viewer who was asked:
//
//   - A person answers it.
//   - The document that asks goes away: the page shows another one, the page
//     closes, or its renderer crashes.
//   - The browser dies or the session ends.
//   - Nobody who may answer is left, and the page waits. The page then gets a
//     negative answer, because it must never hang on a question that nobody
//     sees. Questions that no page waits for stay for the next person.
//
// A picker also ends when control changes hands or another tab is shown, because
// it belongs to the person who opened it.
//
// register.go implements the rule. Each kind has a file of its own.
package questions
