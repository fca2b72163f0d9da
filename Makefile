# make run    start Takeover on http://127.0.0.1:8080
# make test   run every test
# Both install what is missing and say so. `make help` lists the rest.

SHELL     := /bin/sh
BIN       := bin/takeover
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.release=$(VERSION)
GO_FILES  := $(shell git ls-files -co --exclude-standard '*.go' 2>/dev/null)
EMBEDDED  := $(shell git ls-files -co --exclude-standard web/demo/site clipboard/page.js cdp/policy/*.txt 'door/*.html' 'door/*.cjs' 'door/*.gz' 2>/dev/null)
WEB_FILES := $(shell git ls-files -co --exclude-standard static automation/page capture/page widget/page scripting/api clients/viewer build.mjs 2>/dev/null)
BUILT     := static/dist/.built
LINTER    := bin/golangci-lint
OAPI      := bin/oapi-codegen
OAPI_TS   := tools/oapi/node_modules/.installed
FOREIGN   := web/testdata/foreign/node_modules/.installed
FUZZTIME  ?= 1m
# Tests wait part of their time: for a page, a timer, a process. So more packages than
# cores are tested at once.
AT_ONCE   := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 3 / 2)))
# The packages with the longest tests come first, so that none of them is left alone at the end.
PACKAGES  := ./web ./session ./scripting ./conformance ./cmd/takeover ./door/... ./browser ./chromium ./automation ./...

# The program, the linter and what else is run share what is compiled, because all are built alike: without cgo, and
# with the paths of this machine. tools/release.sh leaves those out. Only the race detector needs cgo.
export CGO_ENABLED := 0

.DEFAULT_GOAL := help
.PHONY: cluster-test help setup run dev build test go-test tested slow test-user web-test e2e fuzz check lint fmt generate bench soak release docker image-test picture audit browser compiler shell clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: browser node_modules/.installed ## install what development needs, and the hook that checks commit subjects
	git config core.hooksPath .githooks

run: browser build ## install what is missing, build, start, print a sign-in link
	$(BIN) serve --allow-networks 127.0.0.0/8,::1

dev: browser node_modules/.installed ## start, and rebuild and reload the pages whenever a source file changes
	go run ./tools/dev

build: $(BIN) ## build bin/takeover

$(BIN): $(BUILT) $(GO_FILES) $(EMBEDDED) go.mod go.sum
	go build -ldflags '$(LDFLAGS)' -o $@ ./cmd/takeover

browser: ## install Chromium and fonts if they are missing
	@tools/install.sh browser

compiler:
	@CGO_ENABLED= tools/install.sh compiler

shell:
	@tools/install.sh shell

generate: $(BUILT) $(OAPI) $(OAPI_TS) ## build the web assets from npm, the templates, docs/api-table.md and the clients
	go tool templ generate -log-level error
	go test ./scripting/worker -run TestAPITable -update
	go test ./web -run TestClientsDocument -update
	$(WRITE_CLIENTS)

$(BUILT): node_modules/.installed $(WEB_FILES)
	node build.mjs
	@touch $@

node_modules/.installed: package.json package-lock.json
	npm ci --ignore-scripts --loglevel=error
	@touch $@

test: browser go-test web-test e2e ## run every test

go-test: browser compiler tested
	CGO_ENABLED=1 TAKEOVER_TEST_PROGRAM=$(CURDIR)/$(BIN) go test -race -vet=off -p $(AT_ONCE) -timeout 60m $(PACKAGES) # make check vets; web takes 20 minutes, more than twice that on a slow day

# What the Go tests run. npm waits for its network while the compiler computes.
tested:
	@$(MAKE) --no-print-directory -j 2 $(BIN) $(FOREIGN)

test-user: browser build ## the tests of SECURITY.md as an ordinary user; needs root
	tools/test-as-user.sh

web-test: $(BUILT)
	npm run --silent test

e2e: browser shell build ## the pages, in a real browser, as a person uses them
	npm run --silent e2e

slow: browser compiler tested ## run every test and print the slowest
	CGO_ENABLED=1 TAKEOVER_TEST_PROGRAM=$(CURDIR)/$(BIN) go run ./tools/slow

fuzz: $(BUILT) ## run every fuzz test, each for FUZZTIME (a minute)
	@for file in $$(grep -rl '^func Fuzz' --include='*_test.go' --exclude-dir=node_modules .); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$file); do \
			echo "$$(dirname $$file) $$name"; \
			go test $$(dirname $$file) -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x || exit 1; \
		done; \
	done

bench: browser build ## measure against the targets of docs/benchmarks.md; takes a quarter of an hour
	go run ./bench

check: lint $(OAPI) $(OAPI_TS) ## lint, types, whether the program builds for macOS and Windows, and whether generated code is fresh
	go tool templ generate -log-level error
	go test ./scripting/worker -run TestAPITable
	go test ./web -run TestClientsDocument
	$(WRITE_CLIENTS)
	cd clients/go && go vet ./...
	for os in darwin windows; do GOOS=$$os go build -o /dev/null ./cmd/takeover || exit 1; done
	@git diff --exit-code --stat -- '*_templ.go' clients || { echo "generated code is stale: commit what 'make generate' wrote" >&2; exit 1; }

lint: $(BUILT) $(LINTER)
	$(LINTER) run
	npm run --silent check

# The linters have a module of their own: what they need is nothing that the
# program needs.
$(LINTER): tools/lint/go.mod tools/lint/go.sum
	@echo "building golangci-lint; the first time takes some minutes"
	cd tools/lint && go build -o $(CURDIR)/$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

define WRITE_CLIENTS
cd clients/go && ../../$(OAPI) -config oapi-codegen.yaml ../openapi.json
node tools/oapi/node_modules/openapi-typescript/bin/cli.js clients/openapi.json --output clients/typescript/schema.gen.ts --default-non-nullable false >/dev/null
endef

# So have the generators of the clients.
$(OAPI_TS): tools/oapi/package.json tools/oapi/package-lock.json
	cd tools/oapi && npm ci --ignore-scripts --loglevel=error
	@touch $@

# And the published clients of others that the tests of web run. None installs a
# browser, because no script of theirs runs.
$(FOREIGN): web/testdata/foreign/package.json web/testdata/foreign/package-lock.json
	cd web/testdata/foreign && npm ci --ignore-scripts --loglevel=error
	@touch $@

$(OAPI): tools/oapi/go.mod tools/oapi/go.sum
	cd tools/oapi && go build -o $(CURDIR)/$@ github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen

fmt: ## format Go and templates
	gofmt -w $(GO_FILES)
	go tool templ fmt web/views

audit: ## known vulnerabilities in dependencies (asks public databases)
	go run golang.org/x/vuln/cmd/govulncheck@latest ./...
	npm audit

cluster-test: browser build ## three nodes and three NATS servers as machines whose links are cut; needs root, ip, tc, nats-server, curl
	TAKEOVER_TEST_PROGRAM=$(CURDIR)/$(BIN) go test -tags lab -count 1 -timeout 20m -v ./cluster/lab

soak: browser build ## ten minutes of viewers that come and go, and pages that flood: memory and goroutines
	go run ./bench -only 'soak|ended' -strict

picture: browser build ## make the moving picture of the README again
	@command -v img2webp >/dev/null || { echo "install img2webp first (Debian's package webp)" >&2; exit 1; }
	npx --no-install playwright test -c tools/picture

release: build ## make the release archives for Linux, macOS and Windows, with checksums, in release/
	tools/release.sh

docker: ## build the container image
	@command -v docker >/dev/null || { echo "install docker first; make image-test builds the image without it" >&2; exit 1; }
	docker build -t takeover .

image-test: ## build the container image without docker, run it, and run a script in it; needs root
	tools/image-test.sh

clean: ## remove what was built
	rm -rf bin static/dist/* automation/dist/* capture/dist/* widget/dist/* scripting/dist/* node_modules tools/oapi/node_modules web/testdata/foreign/node_modules
