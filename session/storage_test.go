package session

import (
	"encoding/json"
	"testing"

	"takeover/browser/browsertest"
)

// TestStorageState checks that the state of a session contains its cookies, and
// the local storage, session storage and databases of its pages.
func TestStorageState(t *testing.T) {
	base := site(t)
	s := borrow(t, base+"/one")
	resultOf[any](t, startRun(t, s, `await page.evaluate(async () => {
		document.cookie = 'fruit=fig';
		localStorage.setItem('local', '1');
		sessionStorage.setItem('tab', '2');
		await new Promise((done, fail) => {
			const open = indexedDB.open('shop', 1);
			open.onupgradeneeded = () => open.result.createObjectStore('orders', { keyPath: 'id' }).put({ id: 3 });
			open.onsuccess = () => { open.result.close(); done(); };
			open.onerror = () => fail(open.error);
		});
	})`))
	state, err := s.StorageState(browsertest.Context(t, "storage state"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	type item struct{ Name, Value string }
	var got struct {
		Cookies []item
		Origins []struct {
			Origin         string
			LocalStorage   []item
			SessionStorage []item
			IndexedDB      []struct {
				Name   string
				Stores []struct{ Name string }
			}
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Cookies) != 1 || got.Cookies[0] != (item{"fruit", "fig"}) {
		t.Errorf("cookies: %s", raw)
	}
	if len(got.Origins) != 1 || got.Origins[0].Origin != base {
		t.Fatalf("origins: %s", raw)
	}
	o := got.Origins[0]
	if len(o.LocalStorage) != 1 || o.LocalStorage[0] != (item{"local", "1"}) {
		t.Errorf("local storage: %s", raw)
	}
	if len(o.SessionStorage) != 1 || o.SessionStorage[0] != (item{"tab", "2"}) {
		t.Errorf("session storage: %s", raw)
	}
	if len(o.IndexedDB) != 1 || o.IndexedDB[0].Name != "shop" || len(o.IndexedDB[0].Stores) != 1 || o.IndexedDB[0].Stores[0].Name != "orders" {
		t.Errorf("databases: %s", raw)
	}
}
