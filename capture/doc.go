// Package capture records what a browser does, as events in one schema.
//
// A [Monitor] is one per session. It watches the browser on a CDP client of its
// own, so that capturing never changes what scripts or other clients see, and
// maps what it is told to an [Event]. Every event takes the same way: monitor,
// [Redactor], [Ring]. Whoever wants events (a stream, a panel, a durable store)
// reads the ring with a [Reader] of its own and is told explicitly what it
// missed; nobody who reads can make the monitor wait.
//
// A type's data is built by its own mapping (console.go, network.go, page.go,
// target.go, settle.go, interaction.go) and never passed through from CDP.
package capture
