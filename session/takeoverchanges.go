package session

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/domstorage"

	"takeover/browser"
	"takeover/cdp"
	"takeover/text"
)

const (
	// snapshotTimeout bounds requests to a browser that may be busy or gone.
	snapshotTimeout = 2 * time.Second
	// maxChanged bounds each list of Changes, maxChangedName the bytes of a name in it,
	// and maxChangedURL those of an address.
	maxChanged     = 50
	maxChangedName = 100
	maxChangedURL  = 300
	// maxCompared bounds the keys of storage that are compared. Further sites are left
	// out.
	maxCompared = 10_000
)

// Changes says what changed while a person worked, so that a program neither repeats what
// is done nor looks for what has moved. It has names of cookies and of storage, but not
// their values.
type Changes struct {
	URLBefore      string   `json:"urlBefore" doc:"The address before."`
	URLAfter       string   `json:"urlAfter" doc:"The address after."`
	TitleBefore    string   `json:"titleBefore" doc:"The page's title before."`
	TitleAfter     string   `json:"titleAfter" doc:"The page's title after."`
	TabsOpened     []string `json:"tabsOpened" doc:"Addresses of tabs that were opened and are still open."`
	TabsClosed     []string `json:"tabsClosed" doc:"Addresses, before, of tabs that were closed."`
	FilesAdded     []string `json:"filesAdded" doc:"Names of files that the session got."`
	CookiesSet     []string `json:"cookiesSet" doc:"Names of cookies that were set, without their values."`
	CookiesRemoved []string `json:"cookiesRemoved" doc:"Names of cookies that are gone."`
	StorageSet     []string `json:"storageSet" doc:"Keys of the storage of open pages that were set, without their values."`
	StorageRemoved []string `json:"storageRemoved" doc:"Keys of the storage of open pages that are gone."`
}

// snapshot is the state before a takeover, with which the state at its end is
// compared.
type snapshot struct {
	url, title string
	tabs       map[uint32]string // addresses, by number
	files      map[string]bool
	cookies    hashes
	storage    hashes
	origins    map[string]bool // whose storage was read

	filesRead, cookiesRead bool
}

// hashes are hashes of values. The last part of a key, after a line break, is the name.
type hashes map[string][sha256.Size]byte

// snapshot records the state of the session. Parts that cannot be read stay empty.
func (s *Session) snapshot() snapshot {
	info := s.Info()
	n := snapshot{url: info.URL, title: info.Title, tabs: map[uint32]string{}, files: map[string]bool{}, cookies: hashes{}, storage: hashes{}, origins: map[string]bool{}}
	tabs, _ := s.tabs.list()
	for _, t := range tabs {
		n.tabs[t.Tab] = t.URL
	}
	if folder, err := s.Files(); err == nil {
		list, err := folder.List()
		n.filesRead = err == nil
		for _, f := range list {
			n.files[f.Name] = true
		}
	}
	eng, err := s.ready()
	if err != nil {
		return n
	}
	ctx, cancel := context.WithTimeout(s.ctx, snapshotTimeout)
	defer cancel()
	cookies, err := eng.model.Cookies(ctx)
	n.cookiesRead = err == nil
	for _, c := range cookies {
		n.cookies[c.Domain+"\n"+c.Path+"\n"+c.Name] = sha256.Sum256([]byte(c.Value))
	}
	for _, t := range tabs {
		if page, _ := s.tabs.page(t.Tab); page != nil {
			n.addStorage(ctx, page)
		}
	}
	return n
}

// addStorage adds the storage of a page's origin.
func (n *snapshot) addStorage(ctx context.Context, p *browser.Page) {
	origin := browser.Origin(p.URL())
	if origin == "" || n.origins[origin] {
		return
	}
	for _, local := range []bool{true, false} {
		items, err := cdp.Call(ctx, p.Session(), domstorage.GetDOMStorageItems, domstorage.GetDOMStorageItemsParams{
			StorageID: &domstorage.StorageID{SecurityOrigin: origin, IsLocalStorage: local},
		})
		if err != nil || len(n.storage)+len(items.Entries) > maxCompared {
			return // the page has left, is busy, or keeps very much
		}
		for _, item := range items.Entries {
			if len(item) == 2 {
				area := origin + " session"
				if local {
					area = origin + " local"
				}
				n.storage[area+"\n"+item[0]] = sha256.Sum256([]byte(item[1]))
			}
		}
	}
	n.origins[origin] = true
}

// changesSince compares the present state with an earlier one.
func (s *Session) changesSince(before snapshot) *Changes {
	after, redact := s.snapshot(), s.monitor.Redactor().Text
	c := &Changes{
		URLBefore: redact(before.url), URLAfter: after.url, TitleBefore: redact(before.title), TitleAfter: after.title,
		TabsOpened: []string{}, TabsClosed: []string{},
	}
	for _, tab := range slices.Sorted(maps.Keys(after.tabs)) {
		if _, known := before.tabs[tab]; !known && len(c.TabsOpened) < maxChanged {
			c.TabsOpened = append(c.TabsOpened, text.Clip(redact(after.tabs[tab]), maxChangedURL))
		}
	}
	for _, tab := range slices.Sorted(maps.Keys(before.tabs)) {
		if _, open := after.tabs[tab]; !open && len(after.tabs) > 0 && len(c.TabsClosed) < maxChanged {
			c.TabsClosed = append(c.TabsClosed, text.Clip(redact(before.tabs[tab]), maxChangedURL))
		}
	}
	names := func(of map[string]bool) []string {
		list := []string{}
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if len(list) == maxChanged {
				break
			}
			list = append(list, text.Clip(redact(name), maxChangedName))
		}
		return list
	}
	// What could be read only once says nothing about changes.
	if !before.filesRead || !after.filesRead {
		before.files, after.files = nil, nil
	}
	if !before.cookiesRead || !after.cookiesRead {
		before.cookies, after.cookies = nil, nil
	}
	unknown := func(key string, _ [sha256.Size]byte) bool {
		origin, _, _ := strings.Cut(key, " ")
		return !before.origins[origin] || !after.origins[origin]
	}
	before.storage = maps.Clone(before.storage) // another end of the takeover may compare it, too
	maps.DeleteFunc(before.storage, unknown)
	maps.DeleteFunc(after.storage, unknown)
	files := map[string]bool{}
	for name := range after.files {
		if !before.files[name] {
			files[name] = true
		}
	}
	c.FilesAdded = names(files)
	c.CookiesSet, c.CookiesRemoved = names(after.cookies.since(before.cookies)), names(before.cookies.without(after.cookies))
	c.StorageSet, c.StorageRemoved = names(after.storage.since(before.storage)), names(before.storage.without(after.storage))
	return c
}

// since returns the names whose values are new or have changed.
func (h hashes) since(before hashes) map[string]bool {
	names := map[string]bool{}
	for key, hash := range h {
		if known, ok := before[key]; !ok || known != hash {
			names[nameOf(key)] = true
		}
	}
	return names
}

// without returns the names that another state does not have.
func (h hashes) without(other hashes) map[string]bool {
	names := map[string]bool{}
	for key := range h {
		if _, ok := other[key]; !ok {
			names[nameOf(key)] = true
		}
	}
	return names
}

func nameOf(key string) string { return key[strings.LastIndexByte(key, '\n')+1:] }
