package worker

import (
	"fmt"
	"strings"
	"unicode"
)

// longCategories maps the long names of general categories in regular expressions
// to Go's short ones.
var longCategories = map[string]string{
	"Letter": "L", "Lowercase_Letter": "Ll", "Uppercase_Letter": "Lu", "Titlecase_Letter": "Lt", "Cased_Letter": "LC",
	"Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn",
	"Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd",
	"Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc",
	"Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
	"Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
	"Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl",
	"Paragraph_Separator": "Zp", "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Surrogate": "Cs", "Private_Use": "Co",
}

// derivedProperties are properties that are composed of other tables, most of them
// by the definitions in UAX #44.
var derivedProperties = map[string][]*unicode.RangeTable{
	"Alphabetic":            {unicode.L, unicode.Nl, unicode.Other_Alphabetic},
	"Alpha":                 {unicode.L, unicode.Nl, unicode.Other_Alphabetic},
	"Lowercase":             {unicode.Ll, unicode.Other_Lowercase},
	"Uppercase":             {unicode.Lu, unicode.Other_Uppercase},
	"Math":                  {unicode.Sm, unicode.Other_Math},
	"ID_Start":              {unicode.L, unicode.Nl, unicode.Other_ID_Start},
	"ID_Continue":           {unicode.L, unicode.Nl, unicode.Other_ID_Start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue},
	"LC":                    {unicode.Lu, unicode.Ll, unicode.Lt},
	"Any":                   {{R16: []unicode.Range16{{Lo: 0, Hi: 0xffff, Stride: 1}}, R32: []unicode.Range32{{Lo: 0x10000, Hi: 0x10ffff, Stride: 1}}}},
	"ASCII":                 {{R16: []unicode.Range16{{Lo: 0, Hi: 0x7f, Stride: 1}}}},
	"Emoji":                 emoji,
	"Emoji_Presentation":    emoji[1:],
	"Extended_Pictographic": emoji[1:],
}

// emoji are the blocks that contain emoji. They are good enough to find emoji in
// text, but not an exact list.
var emoji = []*unicode.RangeTable{
	{R16: []unicode.Range16{{Lo: '#', Hi: '#', Stride: 1}, {Lo: '*', Hi: '*', Stride: 1}, {Lo: '0', Hi: '9', Stride: 1}, {Lo: 0xa9, Hi: 0xa9, Stride: 1}, {Lo: 0xae, Hi: 0xae, Stride: 1}}},
	{
		R16: []unicode.Range16{{Lo: 0x231a, Hi: 0x231b, Stride: 1}, {Lo: 0x23e9, Hi: 0x23f3, Stride: 1}, {Lo: 0x25fd, Hi: 0x25fe, Stride: 1}, {Lo: 0x2600, Hi: 0x27bf, Stride: 1}, {Lo: 0x2b1b, Hi: 0x2b1c, Stride: 1}, {Lo: 0x2b50, Hi: 0x2b50, Stride: 1}, {Lo: 0x2b55, Hi: 0x2b55, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x1f004, Hi: 0x1f004, Stride: 1}, {Lo: 0x1f0cf, Hi: 0x1f0cf, Stride: 1}, {Lo: 0x1f18e, Hi: 0x1f18e, Stride: 1}, {Lo: 0x1f191, Hi: 0x1f19a, Stride: 1}, {Lo: 0x1f1e6, Hi: 0x1f1ff, Stride: 1}, {Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f7e0, Hi: 0x1f7eb, Stride: 1}, {Lo: 0x1f90c, Hi: 0x1f9ff, Stride: 1}, {Lo: 0x1fa70, Hi: 0x1faff, Stride: 1}},
	},
}

// unicodeClass returns the content of a character class, for a regular expression
// with the u flag, that matches a property. The property is written as in \p{…}:
// L, Script=Han, Script_Extensions=Han, General_Category=Lu, Alphabetic.
func unicodeClass(property string) (string, bool) {
	name, value, isPair := strings.Cut(property, "=")
	if isPair {
		switch name {
		case "Script", "sc", "Script_Extensions", "scx":
			if table := unicode.Scripts[value]; table != nil {
				return classOf(table), true
			}
			return "", false
		case "General_Category", "gc":
			name = value
		default:
			return "", false
		}
	}
	if tables := derivedProperties[name]; tables != nil {
		return classOf(tables...), true
	}
	if short, ok := longCategories[name]; ok {
		name = short
		if tables := derivedProperties[name]; tables != nil {
			return classOf(tables...), true
		}
	}
	if table := unicode.Categories[name]; table != nil {
		return classOf(table), true
	}
	if table := unicode.Properties[name]; table != nil && !isPair {
		return classOf(table), true
	}
	return "", false
}

func classOf(tables ...*unicode.RangeTable) string {
	var b strings.Builder
	put := func(lo, hi, stride uint32) {
		if stride != 1 {
			for c := lo; c <= hi; c += stride {
				fmt.Fprintf(&b, `\u{%x}`, c)
			}
			return
		}
		fmt.Fprintf(&b, `\u{%x}`, lo)
		if hi > lo {
			fmt.Fprintf(&b, `-\u{%x}`, hi)
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			put(uint32(r.Lo), uint32(r.Hi), uint32(r.Stride))
		}
		for _, r := range t.R32 {
			put(r.Lo, r.Hi, r.Stride)
		}
	}
	return b.String()
}
