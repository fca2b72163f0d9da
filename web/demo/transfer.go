package demo

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// maxUpload bounds an uploaded file in bytes. Uploads are not stored.
const maxUpload = 1 << 20

// sent describes an uploaded file to the page.
type sent struct {
	Name  string
	Bytes int64
	Lines int
}

// registerTransfer adds the page for files.
func (s *site) registerTransfer(g *echo.Group) {
	g.GET("/files", s.plain("files", "Files", nil))
	g.POST("/files", s.receive)
	g.GET("/files/orders.csv", sendOrders)
	g.GET("/vault", s.vault)
}

func (s *site) receive(c echo.Context) error {
	c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, maxUpload)
	header, err := c.FormFile("file")
	if err != nil {
		return s.render(c, http.StatusUnprocessableEntity, view{Page: "files", Title: "Files", Error: "Choose a file of at most 1 MB first."})
	}
	f, err := header.Open()
	if err != nil {
		return fmt.Errorf("open what was sent: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("read what was sent: %w", err)
	}
	lines := 0
	for _, b := range data {
		if b == '\n' {
			lines++
		}
	}
	return s.render(c, http.StatusOK, view{Page: "files", Title: "Files", Data: &sent{Name: header.Filename, Bytes: header.Size, Lines: lines}})
}

// sendOrders sends the table of orders as a file.
func sendOrders(c echo.Context) error {
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="orders.csv"`)
	c.Response().Header().Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	w := csv.NewWriter(c.Response())
	_ = w.Write([]string{"number", "date", "item", "count", "state"})
	for _, o := range orders() {
		_ = w.Write([]string{strconv.Itoa(o.Number), o.Date, o.Item.Name, strconv.Itoa(o.Count), o.State})
	}
	w.Flush()
	return w.Error()
}

// vault requires HTTP authentication with the demo account.
func (s *site) vault(c echo.Context) error {
	name, password, _ := c.Request().BasicAuth()
	if name != Email || password != Password {
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Basic realm="The demo vault", charset="UTF-8"`)
		return c.String(http.StatusUnauthorized, "The vault is closed.")
	}
	return s.render(c, http.StatusOK, view{Page: "vault", Title: "Vault", Name: UserName})
}
