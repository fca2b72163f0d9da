package egress

import "slices"

// adHosts are well-known hosts of advertising networks, of their auctions and of
// services that follow visitors from site to site.
var adHosts = []string{
	"2mdn.net", "3lift.com", "a-mo.net", "ad.gt", "adblade.com", "adcolony.com", "adform.net", "adgrx.com", "adhigh.net", "adition.com", "adkernel.com", "admedo.com",
	"adnxs.com", "adnxs-simple.com", "adotmob.com", "adroll.com", "adsafeprotected.com", "adsrvr.org", "adsymptotic.com", "adtech.de", "adtelligent.com",
	"advertising.com", "agkn.com", "amazon-adsystem.com", "appnexus.com", "atdmt.com", "bidr.io", "bidswitch.net", "bluekai.com", "bounceexchange.com",
	"brealtime.com", "casalemedia.com", "chartbeat.com", "chartbeat.net", "clarity.ms", "connatix.com", "contextweb.com", "crazyegg.com", "criteo.com",
	"criteo.net", "crwdcntrl.net", "demdex.net", "districtm.io", "dotomi.com", "doubleclick.net", "doubleverify.com", "emxdgt.com", "everesttech.net",
	"exelator.com", "eyeota.net", "fastclick.net", "flashtalking.com", "fullstory.com", "google-analytics.com", "googleadservices.com",
	"googlesyndication.com", "googletagservices.com", "gumgum.com", "hotjar.com", "hotjar.io", "id5-sync.com", "imrworldwide.com", "indexww.com",
	"inmobi.com", "insightexpressai.com", "ipredictive.com", "kargo.com", "krxd.net", "liadm.com", "lijit.com", "liveintent.com", "loopme.me",
	"mathtag.com", "media.net", "mediavine.com", "mgid.com", "mixpanel.com", "moatads.com", "mookie1.com", "mouseflow.com", "nr-data.net",
	"omnitagjs.com", "omtrdc.net", "onetag-sys.com", "openx.net", "outbrain.com", "outbrainimg.com", "permutive.com", "pippio.com", "popads.net",
	"propellerads.com", "pubmatic.com", "quantcast.com", "quantserve.com", "revcontent.com", "rfihub.com", "richaudience.com", "rlcdn.com",
	"rubiconproject.com", "scorecardresearch.com", "seedtag.com", "serving-sys.com", "sharethrough.com", "simpli.fi", "sitescout.com", "smaato.net",
	"smartadserver.com", "sonobi.com", "spotxchange.com", "springserve.com", "stackadapt.com", "taboola.com", "tapad.com", "teads.tv", "tidaltv.com",
	"tremorhub.com", "turn.com", "undertone.com", "unrulymedia.com", "yieldlab.net", "yieldmo.com", "zedo.com", "zemanta.com", "zeotap.com",
}

// AdHosts returns a list of hosts of advertising and tracking, with everything
// below them, for Hosts.Denied.
func AdHosts() []string {
	list := slices.Clone(adHosts)
	for _, host := range adHosts {
		list = append(list, "*."+host)
	}
	return list
}
