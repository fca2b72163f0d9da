# syntax=docker/dockerfile:1

# Any of these may be another image with the same tools: --build-arg GO_IMAGE=…
ARG NODE_IMAGE=node:20-bookworm-slim
ARG GO_IMAGE=golang:1.26-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim

# The pages' scripts and styles, and the TypeScript that runs in pages and workers.
FROM ${NODE_IMAGE} AS assets
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY build.mjs ./
COPY static static
COPY automation/page automation/page
COPY capture/page capture/page
COPY widget/page widget/page
COPY scripting/api scripting/api
COPY clients/viewer clients/viewer
COPY docs/api-table.md docs/
RUN mkdir -p static/dist automation/dist capture/dist widget/dist scripting/dist && node build.mjs

# The program, which embeds them.
FROM ${GO_IMAGE} AS server
WORKDIR /src
COPY go.mod go.sum ./
COPY clients/go/go.mod clients/go/go.sum clients/go/
RUN go mod download
COPY . .
COPY --from=assets /src/static/dist static/dist
COPY --from=assets /src/automation/dist automation/dist
COPY --from=assets /src/capture/dist capture/dist
COPY --from=assets /src/widget/dist widget/dist
COPY --from=assets /src/scripting/dist scripting/dist
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.release=$VERSION" -o /takeover ./cmd/takeover

# The image: Chromium, fonts, the program, and a user without rights.
FROM ${DEBIAN_IMAGE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends chromium ca-certificates tini fontconfig fonts-liberation fonts-noto-cjk fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home takeover \
 && install -d -o takeover -g takeover -m 0700 /data
COPY --from=server /takeover /usr/local/bin/takeover
COPY LICENSE /usr/share/doc/takeover/LICENSE
USER takeover
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["takeover", "--server", "http://127.0.0.1:8080", "doctor", "--health"]
ENTRYPOINT ["tini", "--", "takeover"]
CMD ["serve", "--addr", "0.0.0.0:8080", "--data-dir", "/data"]
