// Package trajectory writes bundles: folders with the evidence of what programs
// and people did in a session, to look at later, to give to others, and to resume
// from.
//
//	traj-YYYYMMDD-HHMMSS-xxxxxx/
//	  meta.json              what the bundle is of
//	  events.jsonl           one Event per line, in order
//	  screenshots/           000001-before.png, 000001-after.png
//	  checkpoints/           000010.json
//	  contracts/             000012.json
//	  report.json            counts, when the recording has ended
//	  manifest.json          every other file with its size and hash
//
// Everything passes the redactor before it is written, and no file says where on
// the server the bundle is. A goroutine of its own writes the bundle, so a caller
// never waits for the disk, and an error of the disk does not reach the caller.
package trajectory
