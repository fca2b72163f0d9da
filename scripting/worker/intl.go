package worker

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // because a worker has no files

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// intl gives the scripts' Intl (api/intl) the data of Go's libraries. It belongs
// to the loop's goroutine.
type intl struct {
	w         *worker
	zones     map[string]*time.Location
	collators map[string]*collate.Collator
}

func (i *intl) functions() map[string]func(goja.FunctionCall) goja.Value {
	return map[string]func(goja.FunctionCall) goja.Value{
		"locale": i.locale, "plural": i.plural, "compare": i.compare, "zoneName": i.zoneName, "zone": i.zone,
	}
}

// localeName matches the names of locale files.
var localeName = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[A-Z]{2})?$`)

// locale returns the data of a locale, which the build collects, as JSON: locale(name).
func (i *intl) locale(c goja.FunctionCall) goja.Value {
	name := c.Argument(0).String()
	if !localeName.MatchString(name) {
		return goja.Null()
	}
	packed := i.w.file("locales/" + name + ".json.gz")
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return goja.Null()
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, r); err != nil { //nolint:gosec // our own file
		return goja.Null()
	}
	return i.w.vm.ToValue(text.String())
}

var pluralForms = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// plural returns the plural category of a number: plural(locale, ordinal, integer
// digits, fraction digits).
func (i *intl) plural(c goja.FunctionCall) goja.Value {
	rules := plural.Cardinal
	if c.Argument(1).ToBoolean() {
		rules = plural.Ordinal
	}
	digits, fraction := c.Argument(2).String(), c.Argument(3).String()
	// For a large number, only the last digits matter.
	const enough = 7
	if len(digits) > enough {
		digits = "1" + digits[len(digits)-enough+1:]
	}
	fraction = fraction[:min(len(fraction), enough)]
	significant := strings.TrimRight(fraction, "0")
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // an empty text counts as 0
		return n
	}
	form := rules.MatchPlural(language.Make(c.Argument(0).String()), number(digits), len(fraction), len(significant), number(fraction), number(significant))
	return i.w.vm.ToValue(pluralForms[form])
}

// compare orders two texts: compare(locale, sensitivity, numeric, ignore
// punctuation, a, b).
func (i *intl) compare(c goja.FunctionCall) goja.Value {
	locale, sensitivity := c.Argument(0).String(), c.Argument(1).String()
	key := locale + " " + sensitivity + c.Argument(2).String() + c.Argument(3).String()
	collator := i.collators[key]
	if collator == nil {
		var options []collate.Option
		switch sensitivity {
		case "base":
			options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics)
		case "accent":
			options = append(options, collate.IgnoreCase)
		case "case":
			options = append(options, collate.IgnoreDiacritics)
		}
		if c.Argument(2).ToBoolean() {
			options = append(options, collate.Numeric)
		}
		collator = collate.New(language.Make(locale), options...)
		i.collators[key] = collator
	}
	a, b := c.Argument(4).String(), c.Argument(5).String()
	if c.Argument(3).ToBoolean() {
		a, b = punctuation().ReplaceAllString(a, ""), punctuation().ReplaceAllString(b, "")
	}
	return i.w.vm.ToValue(collator.CompareString(a, b))
}

var punctuation = whenUsed(`[\p{P}\s]+`)

// zoneOffset matches time zones that are an offset from UTC.
var zoneOffset = regexp.MustCompile(`^([+-])(\d\d):?(\d\d)?$`)

// location returns a time zone, or nil if there is none of that name.
func (i *intl) location(name string) *time.Location {
	if zone, ok := i.zones[name]; ok {
		return zone
	}
	var zone *time.Location
	if m := zoneOffset.FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[2])
		minutes, _ := strconv.Atoi("0" + m[3])
		seconds := (hours*60 + minutes) * 60
		if m[1] == "-" {
			seconds = -seconds
		}
		zone = time.FixedZone(m[1]+m[2]+":"+(m[3] + "00")[:2], seconds)
	} else if strings.EqualFold(name, "UTC") || strings.EqualFold(name, "GMT") || strings.EqualFold(name, "Etc/UTC") {
		zone = time.UTC
	} else if found, err := time.LoadLocation(properZone(name)); err == nil && name != "" && !strings.EqualFold(name, "local") {
		zone = found
	}
	i.zones[name] = zone
	return zone
}

// properZone returns a time zone's name as the database spells it: Europe/Berlin.
func properZone(name string) string {
	if strings.ToUpper(name) == name && !strings.Contains(name, "/") {
		return name // such as EST
	}
	small := map[string]bool{"of": true, "es": true, "au": true}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '_' || r == '-' })
	out, rest := "", name
	for _, p := range parts {
		at := strings.Index(rest, p)
		word := strings.ToLower(p)
		if !small[word] || out == "" {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		out += rest[:at] + word
		rest = rest[at+len(p):]
	}
	return out + rest
}

// zoneName returns a time zone's proper name, or null: zoneName(name).
func (i *intl) zoneName(c goja.FunctionCall) goja.Value {
	zone := i.location(c.Argument(0).String())
	if zone == nil {
		return goja.Null()
	}
	return i.w.vm.ToValue(zone.String())
}

// zone returns a time zone's offset from UTC, in minutes, and its abbreviation at a
// time: zone(name, milliseconds since the epoch).
func (i *intl) zone(c goja.FunctionCall) goja.Value {
	zone := i.location(c.Argument(0).String())
	if zone == nil {
		zone = time.UTC
	}
	name, seconds := time.UnixMilli(c.Argument(1).ToInteger()).In(zone).Zone()
	return i.w.vm.ToValue(strconv.Itoa(seconds/60) + " " + name)
}
