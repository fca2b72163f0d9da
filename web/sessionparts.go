package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/web/views"
)

// This file puts the page of sessions together from the parts of all nodes. As with other
// lists, it asks each node for its share of what the page shows, and then those for the rest
// whose share was too small. Of all other sessions, the nodes only send how many there are.

// sessionsPart is what the page of sessions shows of one node.
type sessionsPart struct {
	Waiting []views.Waiting
	Live    []views.SessionInfo
	Ended   []views.SessionInfo
	// LiveMore and EndedMore report that the node has more of them that match the filter.
	LiveMore, EndedMore bool
	// LiveTotal is how many are live. An older version does not say, and sends all.
	LiveTotal   *int `json:",omitempty"`
	EndedTotal  int
	FailedTotal int
	Found       map[string]int
	ByScript    map[string]int // see views.SessionsPage.Scripts
	Since       map[string]int
}

// cards is one of the two lists of sessions on the page, newest first: the live or the ended
// ones.
type cards struct {
	name  string // in the query of a question: how many of them
	shown int    // how many the page shows
	at    func(views.SessionInfo) position
	of    func(*sessionsPart) (list *[]views.SessionInfo, more *bool)
}

var (
	liveCards = cards{
		"live", liveShown, func(v views.SessionInfo) position { return position{v.CreatedAt, v.ID} },
		func(p *sessionsPart) (*[]views.SessionInfo, *bool) { return &p.Live, &p.LiveMore },
	}
	endedCards = cards{
		"ended", endedShown, func(v views.SessionInfo) position { return position{v.EndedAt, v.ID} },
		func(p *sessionsPart) (*[]views.SessionInfo, *bool) { return &p.Ended, &p.EndedMore },
	}
	bothCards = []cards{liveCards, endedCards}
)

// afterParam is the cursor in a question for the rest of one list.
const afterParam = "after"

// first sorts a list and returns the first of it after a position, which may be nil. more
// reports whether others follow.
func (l cards) first(list []views.SessionInfo, limit int, after *position) (page []views.SessionInfo, more bool) {
	page, next := paginate(list, pageQuery{limit: limit, after: after}, newestFirst, l.at)
	return page, next != nil
}

// asked returns how many of a list a node is asked for, or 0 if the question does not say.
func (l cards) asked(query url.Values) (int, error) {
	text := query.Get(l.name)
	if text == "" {
		return 0, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > l.shown {
		return 0, badField(l.name, "must be an integer from 1 to %d", l.shown)
	}
	return limit, nil
}

// partOfPage returns what another node asks of this one's page. p has all live sessions, and
// the ended ones that match the filter. A question for the rest of a list gets only that; one
// of an older version says no numbers and gets all.
func partOfPage(p *views.SessionsPage, query url.Values, now time.Time) (*sessionsPart, error) {
	part := sessionsPart{
		Waiting: p.Waiting, Live: p.Live, Ended: p.Ended, LiveTotal: new(p.LiveTotal),
		EndedTotal: p.EndedTotal, FailedTotal: p.FailedTotal, Found: p.Found, ByScript: p.Scripts, Since: p.Since,
	}
	var after *position
	if cursor := query.Get(afterParam); cursor != "" {
		at, err := readCursor(cursor)
		if err != nil {
			return nil, err
		}
		after, part = &at, sessionsPart{LiveTotal: new(0)}
	}
	for _, l := range bothCards {
		limit, err := l.asked(query)
		if err != nil {
			return nil, err
		}
		if limit == 0 {
			continue
		}
		list, more := l.of(&part)
		all, _ := l.of(&sessionsPart{Live: p.Live, Ended: p.Ended})
		if *list = *all; after != nil || len(*all) > limit { // a page that shows all also has those that the filter hides
			*list = matching(*all, p.Filter, now)
		}
		*list, *more = l.first(*list, limit, after)
	}
	return &part, nil
}

// matching returns the sessions that a filter shows.
func matching(list []views.SessionInfo, f views.Filter, now time.Time) []views.SessionInfo {
	return slices.DeleteFunc(slices.Clone(list), func(v views.SessionInfo) bool { return !f.Shows(v, now) })
}

// addNodes adds to the page of sessions what it shows of the other nodes, and the nodes.
func (s *Server) addNodes(c echo.Context, p *views.SessionsPage) {
	if s.cfg.Cluster == nil {
		return
	}
	parts, missing := s.partsOfPage(c, p)
	for _, part := range parts {
		p.Waiting, p.Live, p.Ended = append(p.Waiting, part.Waiting...), append(p.Live, part.Live...), append(p.Ended, part.Ended...)
		if part.LiveTotal == nil {
			part.LiveTotal = new(len(part.Live))
		}
		p.LiveTotal += *part.LiveTotal
		p.EndedTotal, p.FailedTotal = p.EndedTotal+part.EndedTotal, p.FailedTotal+part.FailedTotal
		addCounts(p.Found, part.Found)
		addCounts(p.Scripts, part.ByScript)
		addCounts(p.Since, part.Since)
	}
	slices.SortStableFunc(p.Waiting, func(a, b views.Waiting) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, n := range s.cfg.Cluster.Nodes() {
		p.Nodes = append(p.Nodes, views.Node{
			Name: n.Name, Live: n.Load.Sessions, Most: n.Load.MaxSessions, Waiting: n.Load.Waiting,
			Ends: n.Draining, Silent: n.Lost || slices.Contains(missing, n.Name),
		})
	}
	slices.SortStableFunc(p.Nodes, func(a, b views.Node) int { return cmp.Compare(a.Name, b.Name) })
}

func addCounts(to, more map[string]int) {
	for name, n := range more {
		to[name] += n
	}
}

// partsOfPage asks the other nodes for what the page shows of them. missing are those that
// did not answer.
func (s *Server) partsOfPage(c echo.Context, p *views.SessionsPage) (parts []sessionsPart, missing []string) {
	r := c.Request()
	others := s.otherNodes(r)
	query := r.URL.Query()
	query.Del(afterParam)
	for _, l := range bothCards {
		query.Set(l.name, strconv.Itoa(shareOf(l.shown, len(others)+1)))
	}
	asks := make([]question, len(others))
	for i, node := range others {
		asks[i] = question{node, "/?" + query.Encode()}
	}
	answers, missing := askAll[sessionsPart](r.Context(), s, r, http.MethodGet, asks, listTime)
	asks = asks[:0]
	for _, l := range bothCards {
		asks = append(asks, l.rest(p, query, answers)...)
	}
	more, silent := askAll[sessionsPart](r.Context(), s, r, http.MethodGet, asks, listTime)
	for _, answer := range slices.Concat(answers, more) {
		parts = append(parts, answer.answer)
	}
	return parts, append(missing, silent...)
}

// rest returns the questions to nodes that may have more of a list on the page than they
// answered. p has this node's.
func (l cards) rest(p *views.SessionsPage, query url.Values, answers []answered[sessionsPart]) (asks []question) {
	mine, _ := l.of(&sessionsPart{Live: p.Live, Ended: p.Ended})
	all := slices.Clone(*mine)
	for i := range answers {
		list, _ := l.of(&answers[i].answer)
		all = append(all, *list...)
	}
	all, full := l.first(matching(all, p.Filter, time.Now()), l.shown, nil)
	query = maps.Clone(query)
	for _, other := range bothCards {
		query.Del(other.name)
	}
	query.Set(l.name, strconv.Itoa(l.shown))
	for i := range answers {
		list, more := l.of(&answers[i].answer)
		if !*more || len(*list) == 0 {
			continue
		}
		last := l.at((*list)[len(*list)-1])
		if full && last.compare(l.at(all[len(all)-1])) <= 0 {
			continue
		}
		query.Set(afterParam, last.cursor())
		asks = append(asks, question{answers[i].node, "/?" + query.Encode()})
	}
	return asks
}
