# A static binary and nothing else, for servers over HTTP: docker run --rm mcp-conform run --http http://host:3000/mcp
# To start servers over stdio, copy the binary into an image that has what they run on.
FROM rust:1-alpine AS build
RUN apk add --no-cache gcc make musl-dev
WORKDIR /source
COPY . .
RUN cargo build --release --locked

FROM scratch
COPY --from=build /source/target/release/mcp-conform /mcp-conform
ENTRYPOINT ["/mcp-conform"]
