// Package store keeps data that must outlive the process, in NATS JetStream. By
// default the NATS server is embedded in the process, has no network port, and
// keeps its files in the data directory. A URL selects an external server
// instead. The same code serves both.
package store
