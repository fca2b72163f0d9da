package demo

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

const (
	perPage  = 6  // items on a page of the catalog
	perFeed  = 10 // notes that the feed loads at a time
	feedSize = 60
)

// item is an item of the catalog.
type item struct {
	ID    int
	Name  string
	Cents int
	Stock int
}

// Price returns the item's price as text.
func (i item) Price() string { return fmt.Sprintf("%d.%02d €", i.Cents/100, i.Cents%100) }

// catalog lists all items. It never changes, so that scripts get predictable
// results.
var catalog = func() []item {
	var all []item
	for i, name := range strings.Split("Desk lamp,Oak shelf,Wool blanket,Paper tray,Wall clock,Coat hook,Linen towel,Tea pot,Bread knife,Soup bowl,"+
		"Candle,Door mat,Book end,Plant pot,Tool box,Step stool,Picture frame,Key ring,Umbrella,Pillow,Chess set,Bird house", ",") {
		all = append(all, item{ID: i + 1, Name: name, Cents: 495 + i*350, Stock: (i * 7) % 23})
	}
	return all
}()

// order is a row in the table of orders.
type order struct {
	Number int
	Date   string
	Item   item
	Count  int
	State  string
}

// Total returns the price of the order.
func (o order) Total() string { return item{Cents: o.Item.Cents * o.Count}.Price() }

func orders() []order {
	states := []string{"paid", "sent", "open"}
	var all []order
	for i := range 9 {
		all = append(all, order{Number: 1001 + i, Date: fmt.Sprintf("2026-03-%02d", 2+3*i), Item: catalog[(i*5)%len(catalog)], Count: 1 + i%3, State: states[i%len(states)]})
	}
	return all
}

// cities are the cities that the search finds.
var cities = strings.Split("Amsterdam,Athens,Barcelona,Berlin,Bern,Bologna,Bratislava,Brussels,Bucharest,Budapest,Copenhagen,Dublin,Edinburgh,Geneva,"+
	"Hamburg,Helsinki,Lisbon,Ljubljana,London,Lyon,Madrid,Milan,Munich,Oslo,Paris,Prague,Riga,Rome,Sofia,Stockholm,Tallinn,Vienna,Vilnius,Warsaw,Zagreb,Zurich", ",")

// registerShop adds the pages without forms.
func (s *site) registerShop(g *echo.Group) {
	g.GET("/catalog", s.showCatalog)
	g.GET("/items/:id", s.showItem)
	g.GET("/orders", s.plain("orders", "Orders", orders()))
	g.GET("/feed", s.plain("feed", "Notes", nil))
	g.GET("/search", s.plain("search", "Find a city", nil))
	g.GET("/shelf", s.plain("shelf", "Widgets", nil))
	g.GET("/menu", s.plain("menu", "Menu", nil))
	g.GET("/api/feed", showFeed)
	g.GET("/api/cities", showCities)
}

// plain returns a handler for a page whose data never change; data may be nil.
func (s *site) plain(page, title string, data any) echo.HandlerFunc {
	return func(c echo.Context) error {
		return s.render(c, http.StatusOK, view{Page: page, Title: title, Data: data})
	}
}

// entry is a line of the index.
type entry struct{ Path, Name, About string }

func (s *site) index(c echo.Context) error {
	return s.render(c, http.StatusOK, view{Page: "index", Title: "A demo site", Data: []entry{
		{"login", "Sign in", "a slider captcha and a code from a phone"},
		{"catalog", "Catalog", "pages to turn, items to open"},
		{"orders", "Orders", "a table"},
		{"feed", "Notes", "more come as you scroll"},
		{"search", "Find a city", "suggestions while you type"},
		{"files", "Files", "send one, get one"},
		{"account", "Account", "sign in with a popup"},
		{"checkout", "Checkout", "a card form in a frame"},
		{"lamp", "Lamp", "a slider to drag"},
		{"wizard", "Booking", "a form in three steps"},
		{"weather", "Weather", "asks a server"},
		{"dashboard", "Dashboard", "several answers come late"},
		{"todos", "To do", "a list with an API"},
		{"notes", "Notebook", "questions in dialogs"},
		{"members", "Members", "remembers who you are"},
		{"nearby", "Nearby", "asks where you are"},
		{"menu", "Menu", "another one on a phone"},
		{"shelf", "Widgets", "elements with a shadow tree"},
	}})
}

func (s *site) showCatalog(c echo.Context) error {
	last := (len(catalog) + perPage - 1) / perPage
	page, _ := strconv.Atoi(c.QueryParam("page"))
	page = min(max(page, 1), last)
	data := struct {
		Items                []item
		Page, Last, Previous int
		Next                 int
	}{catalog[(page-1)*perPage : min(page*perPage, len(catalog))], page, last, page - 1, page + 1}
	if page == last {
		data.Next = 0
	}
	return s.render(c, http.StatusOK, view{Page: "catalog", Title: "Catalog", Data: data})
}

func (s *site) showItem(c echo.Context) error {
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil || id < 1 || id > len(catalog) {
		return echo.ErrNotFound
	}
	return s.render(c, http.StatusOK, view{Page: "item", Title: catalog[id-1].Name, Data: catalog[id-1]})
}

// showFeed returns the notes that follow a given number.
func showFeed(c echo.Context) error {
	after, _ := strconv.Atoi(c.QueryParam("after"))
	notes := []string{}
	for n := max(after, 0) + 1; n <= feedSize && len(notes) < perFeed; n++ {
		notes = append(notes, fmt.Sprintf("Note %d", n))
	}
	return c.JSON(http.StatusOK, map[string]any{"notes": notes, "more": max(after, 0)+len(notes) < feedSize})
}

// showCities returns the first cities that begin with the typed text.
func showCities(c echo.Context) error {
	const most = 5
	typed := strings.ToLower(strings.TrimSpace(c.QueryParam("q")))
	found := []string{}
	for _, city := range cities {
		if typed != "" && strings.HasPrefix(strings.ToLower(city), typed) && len(found) < most {
			found = append(found, city)
		}
	}
	return c.JSON(http.StatusOK, found)
}
