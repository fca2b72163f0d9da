// Package webhook tells other programs by HTTP what happened: a person is
// needed, a run or a session ended.
//
// Requests are those of the Standard Webhooks specification: a JSON body of type,
// timestamp and data, signed with HMAC-SHA256 in the headers webhook-id,
// webhook-timestamp and webhook-signature, so that the libraries published for
// it verify them. What was accepted is in the store before it is sent, and stays
// there until the endpoint took it or every try failed: it is delivered at least
// once, also across restarts, and webhook-id tells repetitions apart.
package webhook
