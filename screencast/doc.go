// Package screencast shows one page to any number of viewers.
//
// A [Cast] belongs to one page. It is started when the first viewer joins and
// stopped when the last one leaves; in between every picture is acknowledged to
// Chromium the moment it arrives, so that Chromium never waits for a viewer.
// Each viewer has a [Subscription], which hands out the newest picture whenever
// the viewer's acknowledgements say that it would arrive without queueing: a
// slow viewer skips pictures and delays nobody.
//
// A [Frame] holds the picture in the form in which it travels to viewers, its
// header in front, so that sending it copies nothing.
package screencast
