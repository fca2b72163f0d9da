package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

type areaListArgs struct{ where }

type areaKeyArgs struct {
	where
	Key string `json:"key"`
}

type areaSetArgs struct {
	where
	Key   string `json:"key"`
	Value string `json:"value"`
}

type cookieListArgs struct {
	where
	Domain string `json:"domain,omitempty" jsonschema:"only cookies of this domain and those above it"`
}

type cookieNameArgs struct {
	where
	Name string `json:"name"`
}

type cookieSetArgs struct {
	where
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain,omitempty" jsonschema:"default: that of the page"`
	Path     string  `json:"path,omitempty" jsonschema:"default: /"`
	Expires  float64 `json:"expires,omitempty" jsonschema:"seconds since 1970; default: the session's end"`
	HTTPOnly bool    `json:"httpOnly,omitempty"`
	Secure   bool    `json:"secure,omitempty"`
	SameSite string  `json:"sameSite,omitempty" jsonschema:"Strict, Lax or None"`
}

type stateFileArgs struct {
	where
	Filename string `json:"filename,omitempty" jsonschema:"a file of the session; default: storage-state.json"`
}

// storageTools read and change cookies and storage.
var storageTools = append(append([]tool{
	row("browser_cookie_list", setStorage, "List cookies", reads,
		"List the browser's cookies with their values.", `{"domain": "shop.example"}`, (*call).listCookies),
	row("browser_cookie_get", setStorage, "Read a cookie", reads,
		"Read the cookies of a name.", `{"name": "theme"}`, (*call).getCookie),
	row("browser_cookie_set", setStorage, "Set a cookie", repeats,
		"Set a cookie.", `{"name": "theme", "value": "dark"}`, (*call).setCookie),
	row("browser_cookie_delete", setStorage, "Delete a cookie", repeats,
		"Delete the cookies of a name.", `{"name": "theme"}`, (*call).deleteCookie),
	row("browser_cookie_clear", setStorage, "Delete all cookies", repeats,
		"Delete all cookies. The browser is signed out everywhere.", `{}`, (*call).clearCookies),
	row("browser_storage_state", setStorage, "Save cookies and storage", repeats,
		"Write the cookies and the storage of all sites to a file of the session, in Playwright's form.", `{"filename": "state.json"}`, (*call).saveState),
	row("browser_set_storage_state", setStorage, "Restore cookies and storage", repeats,
		"Replace all cookies and storage by those of a file of the session.", `{"filename": "state.json"}`, (*call).loadState),
}, areaTools("browser_localstorage", "localStorage")...), areaTools("browser_sessionstorage", "sessionStorage")...)

// areaTools are the tools of one storage area of the page's site.
func areaTools(prefix, area string) []tool {
	js := func(code string) string { return strings.ReplaceAll(code, "AREA", area) }
	read := func(code string, arg func(areaKeyArgs) any) func(*call, areaKeyArgs) (*answer, error) {
		return func(c *call, in areaKeyArgs) (*answer, error) { return c.storage(in.where, js(code), arg(in)) }
	}
	key := func(in areaKeyArgs) any { return in.Key }
	return []tool{
		row(prefix+"_list", setStorage, "List "+area, reads, "List the keys and values of the page's "+area+".", `{}`, func(c *call, in areaListArgs) (*answer, error) {
			return c.storage(in.where, js("() => Object.fromEntries(Object.entries(AREA))"), nil)
		}),
		row(prefix+"_get", setStorage, "Read "+area, reads, "Read a value of the page's "+area+".", `{"key": "theme"}`, read("key => AREA.getItem(key)", key)),
		row(prefix+"_set", setStorage, "Set "+area, repeats, "Set a value of the page's "+area+".", `{"key": "theme", "value": "dark"}`, func(c *call, in areaSetArgs) (*answer, error) {
			return c.storage(in.where, js("([key, value]) => AREA.setItem(key, value)"), []string{in.Key, in.Value})
		}),
		row(prefix+"_delete", setStorage, "Delete from "+area, repeats, "Delete a key of the page's "+area+".", `{"key": "theme"}`, read("key => AREA.removeItem(key)", key)),
		row(prefix+"_clear", setStorage, "Empty "+area, repeats, "Delete all keys of the page's "+area+".", `{}`, func(c *call, in areaListArgs) (*answer, error) {
			return c.storage(in.where, js("() => AREA.clear()"), nil)
		}),
	}
}

// storage runs code on a storage area.
func (c *call) storage(w where, code string, arg any) (*answer, error) {
	var value json.RawMessage
	a, err := c.act(w, view{}, func(ctx context.Context, t tab) (err error) {
		value, err = t.Evaluate(ctx, "", code, true, arg)
		return err
	})
	if err != nil || len(value) == 0 || string(value) == "null" {
		return a, err
	}
	text, err := c.long("result", ".json", string(value), keeping{})
	if err != nil {
		return nil, err
	}
	return say("%s", text), nil
}

// cookie has the fields of a cookie that tools tell.
type cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain,omitempty"`
	Path     string  `json:"path,omitempty"`
	URL      string  `json:"url,omitempty"`
	Expires  float64 `json:"expires,omitempty"`
	HTTPOnly bool    `json:"httpOnly,omitempty"`
	Secure   bool    `json:"secure,omitempty"`
	SameSite string  `json:"sameSite,omitempty"`
}

// cookies answers with the cookies that fit.
func (c *call) cookies(w where, fits func(cookie) bool) (*answer, error) {
	_, t, err := c.shownAt(w)
	if err != nil {
		return nil, err
	}
	var got struct{ Cookies []cookie }
	if err := t.run(c.ctx, "context.cookies", params{}, &got); err != nil {
		return nil, err
	}
	var lines []string
	for _, one := range got.Cookies {
		if fits(one) {
			raw, err := json.Marshal(one)
			if err != nil {
				return nil, err
			}
			lines = append(lines, "- "+string(raw))
		}
	}
	if len(lines) == 0 {
		return say("No such cookie among the browser's %d.", len(got.Cookies)), nil
	}
	text, err := c.long("cookies", ".txt", "\n"+strings.Join(lines, "\n"), keeping{})
	if err != nil {
		return nil, err
	}
	return say("%s", text), nil
}

func (c *call) listCookies(in cookieListArgs) (*answer, error) {
	return c.cookies(in.where, func(one cookie) bool {
		domain := strings.TrimPrefix(one.Domain, ".")
		return in.Domain == "" || in.Domain == domain || strings.HasSuffix(in.Domain, "."+domain)
	})
}

func (c *call) getCookie(in cookieNameArgs) (*answer, error) {
	return c.cookies(in.where, func(one cookie) bool { return one.Name == in.Name })
}

func (c *call) setCookie(in cookieSetArgs) (*answer, error) {
	if in.Name == "" {
		return nil, errors.New("name: is required")
	}
	return c.act(in.where, view{}, func(ctx context.Context, t tab) error {
		one := cookie{
			Name: in.Name, Value: in.Value, Domain: in.Domain, Path: in.Path, Expires: in.Expires, HTTPOnly: in.HTTPOnly, Secure: in.Secure, SameSite: in.SameSite,
		}
		if one.Domain == "" {
			one.URL = c.conversation.session.Info().URL
			one.Path = ""
		} else {
			one.Path = cmp.Or(one.Path, "/")
		}
		return t.run(ctx, "context.addCookies", params{"cookies": []cookie{one}}, nil)
	})
}

func (c *call) deleteCookie(in cookieNameArgs) (*answer, error) {
	return c.act(in.where, view{}, func(ctx context.Context, t tab) error {
		var got struct{ Cookies []map[string]any }
		if err := t.runRaw(ctx, "context.cookies", params{}, &got); err != nil {
			return err
		}
		list := []map[string]any{}
		for _, one := range got.Cookies {
			if one["name"] == in.Name {
				list = append(list, one)
			}
		}
		if len(list) == 0 {
			return fmt.Errorf("name: there is no cookie %.60q", in.Name)
		}
		return t.run(ctx, "context.clearCookies", params{"cookies": list}, nil)
	})
}

func (c *call) clearCookies(in areaListArgs) (*answer, error) {
	return c.act(in.where, view{}, func(ctx context.Context, t tab) error {
		return t.run(ctx, "context.clearCookies", params{}, nil)
	})
}

// stateFile is the file of a storage state, if the caller names none.
const stateFile = "storage-state.json"

func (c *call) saveState(in stateFileArgs) (*answer, error) {
	s, t, err := c.shownAt(in.where)
	if err != nil {
		return nil, err
	}
	var state json.RawMessage
	if err := t.runRaw(c.ctx, "context.storageState", params{}, &state); err != nil {
		return nil, err
	}
	folder, err := s.session.Files()
	if err != nil {
		return nil, err
	}
	f, err := folder.Write(cmp.Or(in.Filename, stateFile), bytes.NewReader(state))
	if err != nil {
		return nil, err
	}
	return say("The session's file %s has the state. It is as good as a password: it is signed in where the browser is.", f.Name), nil
}

// maxState bounds a storage state that a tool reads, in bytes.
const maxState = 16 << 20

func (c *call) loadState(in stateFileArgs) (*answer, error) {
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	folder, err := s.session.Files()
	if err != nil {
		return nil, err
	}
	raw, err := folder.Read(cmp.Or(in.Filename, stateFile), maxState)
	if err != nil {
		return nil, err
	}
	if !json.Valid(raw) {
		return nil, errors.New("filename: the file is not JSON")
	}
	return c.act(in.where, view{}, func(ctx context.Context, t tab) error {
		return t.run(ctx, "context.setStorageState", params{"state": json.RawMessage(raw)}, nil)
	})
}
