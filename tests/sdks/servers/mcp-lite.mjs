// McpServer of mcp-lite, which has no stdio. argv: a port.
import { serve } from "@hono/node-server";
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite";
import { z } from "zod";

const server = new McpServer({ name: "quickstart", version: "1.0.0", schemaAdapter: schema => z.toJSONSchema(schema) });
server.tool("add", {
  description: "Add two numbers",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] })
});
server.tool("measure", {
  description: "Count the characters and words of a text",
  inputSchema: z.object({ text: z.string() }),
  outputSchema: z.object({ characters: z.number(), words: z.number() }),
  handler: ({ text }) => {
    const counts = { characters: text.length, words: text.split(/\s+/).filter(Boolean).length };
    return { content: [{ type: "text", text: JSON.stringify(counts) }], structuredContent: counts };
  }
});
server.resource("info://about", { name: "about", description: "What this server is", mimeType: "text/plain" }, async uri => ({
  contents: [{ uri: uri.href, mimeType: "text/plain", text: "A quickstart server." }]
}));
server.resource("greeting://{name}", { name: "greeting", description: "A greeting for somebody" }, async (uri, { name }) => ({
  contents: [{ uri: uri.href, text: `Hello, ${name}!` }]
}));
server.prompt("introduce", {
  description: "Introduce somebody",
  arguments: z.object({ name: z.string() }),
  handler: ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Introduce ${name} in one sentence.` } }] })
});

const handle = new StreamableHttpTransport({ sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1000 }) }).bind(server);
serve({ fetch: handle, port: Number(process.argv[2]), hostname: "127.0.0.1" });
