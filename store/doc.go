// Package store keeps what must outlive the process, in NATS JetStream: a
// server embedded in the process by default, which listens nowhere and keeps
// its files under the data directory, or an external one by URL. The same code
// speaks to both.
package store
