package web

import (
	"slices"
	"testing"
	"time"
)

func TestPaginateKeepsItsPlace(t *testing.T) {
	type item struct {
		name string
		at   int64
	}
	place := func(i item) position { return position{time.Unix(i.at, 0), i.name} }
	names := func(items []item) []string {
		var out []string
		for _, i := range items {
			out = append(out, i.name)
		}
		return out
	}
	all := []item{{"a", 1}, {"c", 2}, {"b", 2}, {"d", 3}, {"e", 4}}
	for direction, want := range map[order][2][]string{
		oldestFirst: {{"a", "b"}, {"c", "d"}},
		newestFirst: {{"e", "d"}, {"c", "b"}},
	} {
		page, next := paginate(slices.Clone(all), pageQuery{limit: 2}, direction, place)
		if !slices.Equal(names(page), want[0]) || next == nil {
			t.Fatalf("first page: %v, %v", page, next)
		}
		// The item that the cursor names leaves the list, and so does the one
		// before it.
		left := slices.DeleteFunc(slices.Clone(all), func(i item) bool { return slices.Contains(want[0], i.name) })
		after, err := readCursor(*next)
		if err != nil {
			t.Fatal(err)
		}
		page, next = paginate(left, pageQuery{limit: 2, after: &after}, direction, place)
		if !slices.Equal(names(page), want[1]) || next == nil {
			t.Errorf("second page: %v, %v", page, next)
		}
	}
	if page, next := paginate(nil, pageQuery{limit: 2}, oldestFirst, place); page == nil || len(page) > 0 || next != nil {
		t.Errorf("page of nothing: %v, %v", page, next)
	}
	for _, text := range []string{"none", "1", "1.", ".a", "x.a"} {
		if _, err := readCursor(text); err == nil {
			t.Errorf("%s is a cursor", text)
		}
	}
}

// TestFilteredListPages checks that the next page is found even if the last
// session of the previous page has changed its status.
func TestFilteredListPages(t *testing.T) {
	s := startServer(t, nil)
	var made []string
	for range 3 {
		made = append([]string{s.create(nil).ID()}, made...)
	}
	type page struct {
		Sessions []sessionView `json:"sessions"`
		Next     *string       `json:"next"`
	}
	var first, second page
	s.call("GET", "/v1/sessions?status=live&limit=1", nil, 200, &first)
	if len(first.Sessions) != 1 || first.Sessions[0].ID != made[0] || first.Next == nil {
		t.Fatalf("first page: %+v", first)
	}
	s.call("POST", "/v1/sessions/"+made[0]+"/release", nil, 200, nil)
	s.call("GET", "/v1/sessions?status=live&limit=2&cursor="+*first.Next, nil, 200, &second)
	if len(second.Sessions) != 2 || second.Sessions[0].ID != made[1] || second.Sessions[1].ID != made[2] || second.Next != nil {
		t.Errorf("second page: %+v", second)
	}
}
