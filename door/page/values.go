package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// tag converts a value that JSON can express to the form in which pages get
// values, described in automation/page/serialize.ts.
func tag(value any) (any, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var plain any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // keep large numbers as they are
	if err := d.Decode(&plain); err != nil {
		return nil, err
	}
	last := 0
	return tagged(plain, &last), nil
}

func tagged(value any, last *int) any {
	switch value := value.(type) {
	case string:
		return map[string]any{"s": value}
	case bool:
		return map[string]any{"b": value}
	case json.Number:
		return map[string]any{"n": value}
	case []any:
		*last++
		id, items := *last, make([]any, len(value))
		for i, item := range value {
			items[i] = tagged(item, last)
		}
		return map[string]any{"a": items, "id": id}
	case map[string]any:
		*last++
		id, members := *last, make([]any, 0, len(value))
		for name, item := range value {
			members = append(members, map[string]any{"k": name, "v": tagged(item, last)})
		}
		return map[string]any{"o": members, "id": id}
	default:
		return map[string]any{"v": "null"}
	}
}

// value is a tagged value; exactly one of its fields is set, besides ID.
type value struct {
	N  json.Number `json:"n"`
	S  *string     `json:"s"`
	B  *bool       `json:"b"`
	V  string      `json:"v"`
	A  *[]value    `json:"a"`
	O  *[]member   `json:"o"`
	D  *string     `json:"d"`  // a date
	U  *string     `json:"u"`  // an address
	BI string      `json:"bi"` // a large integer
	R  *struct{ P, F string }
	E  *struct{ N, M, S string }
	TA *struct{ K, B string }
	AB *string `json:"ab"`

	ID  int `json:"id"`
	Ref int `json:"ref"`
	H   *int
}

type member struct {
	K string `json:"k"`
	V value  `json:"v"`
}

// maxUntagged bounds the size of a value as JSON, because a value may refer to a
// large part of itself many times.
const maxUntagged = 16 << 20

var errLargeValue = errors.New("the value is too large")

// untag converts a page's value to JSON. undefined, NaN and what is infinite
// become null, as with JSON.stringify; dates, regular expressions and errors
// become texts; a value that contains itself has null there.
func untag(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return json.RawMessage("null"), nil
	}
	var v value
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("read the page's value: %w", err)
	}
	u := untagger{known: map[int]*value{}, open: map[int]bool{}}
	u.write(&v)
	return u.out.Bytes(), u.err
}

type untagger struct {
	out   bytes.Buffer
	known map[int]*value // objects and arrays by id
	open  map[int]bool   // those that are being written
	err   error
}

func (u *untagger) write(v *value) {
	if u.out.Len() > maxUntagged {
		u.err = errLargeValue
	}
	if u.err != nil {
		return
	}
	switch {
	case v.N != "":
		u.out.WriteString(v.N.String())
	case v.S != nil:
		u.text(*v.S)
	case v.B != nil:
		fmt.Fprint(&u.out, *v.B)
	case v.V == "-0":
		u.out.WriteString("0")
	case v.A != nil, v.O != nil:
		u.known[v.ID] = v
		u.nested(v)
	case v.Ref != 0 && u.known[v.Ref] != nil && !u.open[v.Ref]:
		u.nested(u.known[v.Ref])
	case v.D != nil:
		u.text(*v.D)
	case v.U != nil:
		u.text(*v.U)
	case v.BI != "":
		u.text(v.BI)
	case v.R != nil:
		u.text("/" + v.R.P + "/" + v.R.F)
	case v.E != nil:
		u.text(strings.TrimSuffix(v.E.N+": "+v.E.M, ": "))
	case v.TA != nil:
		u.text(v.TA.B)
	case v.AB != nil:
		u.text(*v.AB)
	default:
		u.out.WriteString("null")
	}
}

func (u *untagger) nested(v *value) {
	u.open[v.ID] = true
	defer delete(u.open, v.ID)
	if v.A != nil {
		u.out.WriteByte('[')
		for i := range *v.A {
			if i > 0 {
				u.out.WriteByte(',')
			}
			u.write(&(*v.A)[i])
		}
		u.out.WriteByte(']')
		return
	}
	u.out.WriteByte('{')
	first := true
	for i := range *v.O {
		m := &(*v.O)[i]
		if m.V.V == "undefined" {
			continue
		}
		if !first {
			u.out.WriteByte(',')
		}
		first = false
		u.text(m.K)
		u.out.WriteByte(':')
		u.write(&m.V)
	}
	u.out.WriteByte('}')
}

func (u *untagger) text(s string) {
	e := json.NewEncoder(&u.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		u.err = err
		return
	}
	u.out.Truncate(u.out.Len() - 1) // Encode ends with a newline
}
