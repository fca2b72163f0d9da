// Package capture records what a browser does, as events in one schema.
//
// A session has one [Monitor]. It watches the browser on a CDP client of its own,
// so that capturing never changes what scripts or other clients see, and maps CDP
// events to an [Event]. Every event goes the same way: monitor, [Redactor],
// [Ring]. Streams, panels and durable stores read the ring, each with a [Reader]
// of its own, which reports what it missed. No reader can make the monitor wait.
//
// The data of each type is built by its own mapping (console.go, network.go,
// page.go, target.go, settle.go, interaction.go) and never passed through from
// CDP.
package capture
