// Package screencast shows one page to any number of viewers.
//
// A [Cast] belongs to one page. It starts when the first viewer joins and stops
// when the last one leaves. It acknowledges every picture to Chromium at once, so
// that Chromium never waits for a viewer. Each viewer has a [Subscription]. It
// returns the newest picture when the viewer's acknowledgements show that the
// picture would arrive without queueing. A slow viewer skips pictures and delays
// nobody. The pictures that Chromium sends while a page changes are called moving
// pictures. A still is a sharp screenshot that replaces the last of them.
//
// A [Frame] holds a picture in the form that is sent to viewers, behind its
// header, so that sending copies nothing.
package screencast
