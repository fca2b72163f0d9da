// Package chromium starts Chromiums and supervises their processes: one by itself
// ([Launch]) or from a [Pool] that keeps some started in advance. It knows Chromium's
// switches, its folders, its user, its confinement, and what to clean up after
// a server that died ([Reap]). What happens in a Chromium is the model's, package browser.
package chromium
