package chromium

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// minSharedMemory is the size of /dev/shm below which Chromium uses files
// instead. Pictures pass between its processes through /dev/shm, and a full one
// crashes the tab. Docker's default is 64 MiB.
const minSharedMemory = 1 << 30

// alwaysOn are the switches that every Chromium gets, with reasons. The names
// come from Chromium's *_switches.cc.
var alwaysOn = []string{
	"--headless", // Chromium itself without a window system, not the old headless shell
	"--remote-debugging-pipe",

	// A page must go on painting and running while nobody looks at it directly.
	"--disable-background-timer-throttling",
	"--disable-backgrounding-occluded-windows",
	"--disable-renderer-backgrounding",
	"--disable-ipc-flooding-protection", // scripts that navigate or print a lot are not slowed down
	"--disable-hang-monitor",            // no dialog about a slow page; the people who watch decide

	// No requests except for the pages' own.
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-domain-reliability",
	"--gaia-url=http://accounts.invalid/",                       // otherwise each start asks accounts.google.com who is signed in
	"--component-updater=url-source=http://components.invalid/", // otherwise it asks update.googleapis.com every minute, even with the switch above
	"--disable-sync",
	"--disable-field-trial-config",
	"--metrics-recording-only",
	"--no-pings",
	"--disable-breakpad",                                  // no crash reports; without the handler process (--disable-crashpad-for-testing) the network service dies
	"--disable-quic",                                      // QUIC bypasses an HTTP proxy
	"--webrtc-ip-handling-policy=disable_non_proxied_udp", // no address of this machine in ICE candidates

	// Interface elements that a screencast does not show, but that take the
	// focus.
	"--no-first-run",
	"--no-default-browser-check",
	"--disable-default-apps",
	"--disable-extensions",
	"--disable-component-extensions-with-background-pages",
	"--disable-search-engine-choice-screen",
	"--hide-crash-restore-bubble", // no bubble after a kill and a restart with the same profile
	"--disable-infobars",
	"--disable-prompt-on-repost", // no dialog outside the page when a posted form is reloaded
	"--disable-print-preview",    // window.print() would open one
	"--noerrdialogs",
	"--disable-blink-features=EyeDropperAPI", // a page would wait for an eye dropper that nobody sees
	"--password-store=basic",                 // no desktop keyring to ask

	// The same behaviour on every machine.
	"--disable-gpu", // software rendering, without the attempts to find another
	"--force-color-profile=srgb",
	"--disable-back-forward-cache", // a document that was left is gone; the lifecycle of navigations relies on that
	"--disable-popup-blocking",     // a script's window.open opens a page, as in other automation tools
	"--allow-pre-commit-input",     // input right after a navigation is not swallowed
	"--log-level=2",                // stderr: errors only
}

// disabledFeatures are names of base::Feature, with reasons. None is enabled in
// addition. CDPScreenshotNewSurface would make a screenshot one frame faster, but
// all of Chromium 156 then dies if a page crashes while its picture is taken.
var disabledFeatures = []string{
	"Translate",                             // shows a bubble
	"MediaRouter", "DialMediaRouteProvider", // searches the local network for screens
	"OptimizationHints", "OptimizationGuideModelDownloading", // download data in the background
	"AutofillServerCommunication",
	"NetworkTimeServiceQuerying", // asks Google for the time
	"CertificateTransparencyComponentUpdater",
	"InterestFeedContentSuggestions",
	"HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", // http: URLs stay http:
	"LensOverlay", "GlobalMediaControls",
	"PaintHolding",                              // would keep the old picture after a navigation
	"PreloadTopChromeWebUI",                     // would start a renderer for menus that nobody opens
	"SpareRendererForSitePerProcess",            // would start one ahead in each browser context: a third of what a new context costs
	"WebUIOmniboxPopup", "WebUIOmniboxAimPopup", // would start two more, for the address bar's list
}

// switches returns Chromium's command line without the executable.
func switches(o LaunchOptions, f *folder, sandbox bool) []string {
	args := append([]string(nil), alwaysOn...)
	args = append(args,
		"--disable-features="+strings.Join(disabledFeatures, ","),
		"--user-data-dir="+f.profile(),
		"--disk-cache-dir="+filepath.Join(f.profile(), "Cache"),
		fmt.Sprintf("--window-size=%d,%d", o.Width, o.Height),
		screen(o),
	)
	if !sandbox {
		args = append(args, "--no-sandbox")
	}
	if !o.ownShm && sharedMemory() < minSharedMemory {
		args = append(args, "--disable-dev-shm-usage")
	}
	if o.DeviceScaleFactor != 0 {
		args = append(args, "--force-device-scale-factor="+strconv.FormatFloat(o.DeviceScaleFactor, 'g', -1, 64))
	}
	if o.UserAgent != "" {
		args = append(args, "--user-agent="+o.UserAgent)
	}
	if o.Locale != "" {
		args = append(args, "--lang="+o.Locale, "--accept-lang="+o.Locale)
	}
	if o.ProxyServer != "" {
		// Without the second switch, loopback addresses would bypass the proxy.
		args = append(args, "--proxy-server="+o.ProxyServer, "--proxy-bypass-list=<-loopback>")
	}
	args = append(args, o.Args...)
	return append(args, "about:blank")
}

// screen makes the screen as large as the window, in device pixels.
func screen(o LaunchOptions) string {
	scale := o.DeviceScaleFactor
	if scale == 0 {
		scale = 1
	}
	return fmt.Sprintf("--screen-info={%dx%d}", int(float64(o.Width)*scale), int(float64(o.Height)*scale))
}

// sharedMemory returns the free space of /dev/shm in bytes, or 0 when it does not
// exist.
func sharedMemory() uint64 {
	var fs syscall.Statfs_t
	if syscall.Statfs("/dev/shm", &fs) != nil {
		return 0
	}
	return fs.Bavail * uint64(fs.Bsize)
}
