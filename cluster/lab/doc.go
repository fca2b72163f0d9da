// Package lab tests a cluster as machines, not as ports: three nodes and three NATS servers,
// each pair in a network namespace of its own, whose links it cuts and slows. It needs root
// and the programs ip, tc, nats-server and curl: make cluster-test.
package lab
