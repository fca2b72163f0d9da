package redact

import "strings"

// furtherPrefixes are the beginnings of further tokens, as services document them. At least
// leastOfToken characters follow, and one of them is a digit.
const furtherPrefixes = `p8e- AGE-SECRET-KEY- LTAI AKCp ATCTT3 ABIA ACCA ABSK CLOJARS_ dapi dor_v1_ dp.pt. dp.st. dp.ct. duffel_live_ duffel_test_
dt0c01. EZAK EZTK FLWSECK- FLWSECK_TEST- fo1_ fm1_ fm2_ fio-u- glcbt- glffct- glft- glimt- glagent- gloas- glsoat- GR1348941 glc_ HRKU- api_org_
ico- s-s4t2ud- key- NRAK- NRJS- NRII- NRAA- ntn_ ops_ sk-svcacct- sk-admin- sk-lf- sha256~ pplx- pscale_tkn_ pscale_pw_ pscale_oauth_ PMAK- pnu_ pul-
rdme_ rubygems_ tk-us- sntrys_ sntryu_ sm_pat_ sm_aat_ shippo_live_ shippo_test_ shppa_ squ_ sqp_ sqa_ sgp_ rk_prod_ sk_prod_ hvb. AQVN
gsk_ xai- sbp_ sb_secret_ vcp_ nfp_ tskey- dckr_oat_ CFPAT- bkua_ CCIPAT_ ddp_ sk.eyJ rzp_live_ rzp_test_ napi_ pcsk_ sl.B tfp_ hooks.slack.com/services/`

const leastOfToken = 16

// moreForms are the tokens that begin with one of furtherPrefixes.
var moreForms = func() (forms []tokenForm) {
	for _, prefix := range strings.Fields(furtherPrefixes) {
		following := &tokenBytes
		switch {
		case len(prefix) <= 4: // so short a word may begin other names
			following = &alnumBytes
		case strings.HasSuffix(prefix, "/"):
			following = &pathTokenBytes
		case strings.Contains(prefix, "."):
			following = &dottedBytes
		}
		forms = append(forms, tokenForm{prefix, following, leastOfToken, true})
	}
	return forms
}()

var pathTokenBytes = bytesOf("_-/")

// ibanLengths are the lengths of account numbers by country, as the registry of ISO
// 13616 has them.
var ibanLengths = func() map[string]int {
	const registry = `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22
GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18
NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20`
	lengths := map[string]int{}
	for _, row := range strings.Fields(registry) {
		lengths[row[:2]] = int(row[2]-'0')*10 + int(row[3]-'0')
	}
	return lengths
}()

// ibanEnd returns where the international bank account number (ISO 13616) that begins
// at index at ends, or -1. It may be written in groups.
func ibanEnd(s string, at int) int {
	if at+4 > len(s) || !isDigit(s[at+2]) || !isDigit(s[at+3]) || at > 0 && (s[at-1] == '_' || s[at-1] == '-') {
		return -1
	}
	var room [40]byte
	left := ibanLengths[strings.ToUpper(s[at:at+2])]
	if left == 0 {
		return -1
	}
	number := room[:0]
	i := at
	for ; len(number) < left; i++ {
		if i >= len(s) {
			return -1
		}
		if !alnumBytes[s[i]] {
			gap := cardSeparator(s[i:])
			if gap == "" || len(number) < 4 || i+len(gap) >= len(s) {
				return -1
			}
			i += len(gap)
			if !alnumBytes[s[i]] {
				return -1
			}
		}
		number = append(number, lowerOf[s[i]])
	}
	if i < len(s) && (alnumBytes[s[i]] || s[i] == '_') {
		return -1
	}
	rest := 0 // of the division by 97 (ISO 7064)
	for n := range number {
		c := number[(n+4)%len(number)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'a') + 10) % 97
		}
	}
	if rest != 1 {
		return -1
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// botTokenEnd returns where the key of a bot ends that stands behind its number and a
// colon: 110201543:AA….
func botTokenEnd(s string, word, colon int) int {
	const leastNumber, leastKey = 8, 30
	if colon-word < leastNumber || !strings.HasPrefix(s[colon:], ":AA") || !isDigit(s[colon-1]) {
		return -1
	}
	if end := span(s, colon+1, &tokenBytes); end-colon > leastKey {
		return end
	}
	return -1
}

// leastEncoded is the length of the shortest JSON in base64 that is read.
const leastEncoded = 16

// encodedJSONEnd returns where JSON in base64 ends that has a secret, or -1.
func (r *rules) encodedJSONEnd(s string, at, depth int) int {
	if depth >= maxEmbedded || len(s)-at < leastEncoded || strings.IndexByte("yw31", s[at+1]) < 0 || strings.IndexByte("ABCDIJKLopqrstuv", s[at+2]) < 0 {
		return -1 // a quote, a bracket or white space follows the first bracket
	}
	end := span(s, at, &base64Bytes)
	if end < len(s) && (s[end] == '_' || s[end] == '-') {
		end = span(s, at, &tokenBytes)
	}
	if end-at < leastEncoded {
		return -1
	}
	plain, ok := unbase64(s[at:end])
	if !ok || !looksLikeJSON(plain) {
		return -1
	}
	if out, ok := r.json([]byte(plain), depth+1); !ok || string(out) == plain {
		return -1
	}
	for n := 0; n < 2 && end < len(s) && s[end] == '='; n++ {
		end++
	}
	return end
}
