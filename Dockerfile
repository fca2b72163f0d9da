# syntax=docker/dockerfile:1

FROM node:20-bookworm-slim AS assets
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY build.mjs ./
COPY static static
COPY automation/page automation/page
COPY widget/page widget/page
COPY scripting/api scripting/api
RUN mkdir -p automation/dist widget/dist scripting/dist static/dist && node build.mjs

FROM golang:1.26-bookworm AS server
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=assets /src/static/dist static/dist
COPY --from=assets /src/automation/dist automation/dist
COPY --from=assets /src/scripting/dist scripting/dist
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.release=$VERSION" -o /takeover ./cmd/takeover

FROM debian:bookworm-slim
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
