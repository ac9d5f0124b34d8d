# A static binary, CA certificates and an empty /tmp. Building needs the registries of images and crates alone.
#
#   docker build -t mcp-conform .
#   docker run --rm --network host mcp-conform run --http http://127.0.0.1:3000/mcp
#
# The entrypoint is the program. It runs as user 65532, in /work: mount a directory there to read mcp-conform.toml or to write reports,
# with `--user "$(id -u):$(id -g)"`. Servers over stdio run in an image of their own: examples/compose/compose.yaml.
FROM rust:1-alpine AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --bin mcp-conform \
 && install -D target/release/mcp-conform /image/mcp-conform \
 && install -D -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ca-certificates.crt \
 && install -d -m 1777 /image/tmp /image/work

FROM scratch
COPY --from=build /image/ /
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/mcp-conform"]
