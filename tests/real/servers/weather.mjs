// A small server as the TypeScript SDK 2.x has it in its introduction: all revisions, one factory for both transports.
// Usage: node weather.mjs [PORT], over stdio without one.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, ResourceNotFoundError, ResourceTemplate, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const PLACES = { oslo: { celsius: 4, sky: "rain" }, cairo: { celsius: 31, sky: "clear" } };

function weather() {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  const place = z.object({ place: z.enum(Object.keys(PLACES)) });
  server.registerResource("places", "weather://places", { mimeType: "application/json", description: "All places" }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(Object.keys(PLACES)) }],
  }));
  server.registerResource(
    "place",
    new ResourceTemplate("weather://places/{place}", { list: undefined, complete: { place: () => Object.keys(PLACES) } }),
    { mimeType: "application/json", description: "The weather there" },
    async (uri, { place }) => {
      if (!(place in PLACES)) throw new ResourceNotFoundError(uri.href);
      return { contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(PLACES[place]) }] };
    },
  );
  server.registerTool(
    "now",
    {
      description: "The weather of a place",
      inputSchema: place,
      outputSchema: z.object({ celsius: z.number(), sky: z.string() }),
      annotations: { readOnlyHint: true },
    },
    async ({ place }) => ({ content: [{ type: "text", text: JSON.stringify(PLACES[place]) }], structuredContent: PLACES[place] }),
  );
  server.registerPrompt("pack", { description: "What to pack", argsSchema: z.object({ place: z.string() }) }, ({ place }) => ({
    messages: [{ role: "user", content: { type: "text", text: `What should I pack for ${place}?` } }],
  }));
  return server;
}

const port = process.argv[2];
if (port) {
  const handler = toNodeHandler(createMcpHandler(weather));
  createServer((request, response) => handler(request, response)).listen(Number(port), "127.0.0.1");
} else {
  serveStdio(weather);
}
