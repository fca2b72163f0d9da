// Package webhook notifies other programs over HTTP: a person is needed, a run or
// a session has ended.
//
// Requests follow the Standard Webhooks specification: a JSON body with type,
// timestamp and data, signed with HMAC-SHA256 in the headers webhook-id,
// webhook-timestamp and webhook-signature. So the libraries published for the
// specification can verify them. An accepted event is stored before it is sent,
// and stays in the store until the endpoint has accepted it or every try has
// failed. It is delivered at least once, also across restarts, and webhook-id
// identifies repetitions.
package webhook
