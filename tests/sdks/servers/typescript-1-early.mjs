// McpServer of @modelcontextprotocol/sdk 1.3 to 1.12, over stdio.
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { z } from "zod";

const startingWith = value => ["Ada", "Alan", "Barbara", "Grace"].filter(name => name.startsWith(value));
const server = new McpServer({ name: "quickstart", version: "1.0.0" });
server.tool("add", "Add two numbers", { a: z.number(), b: z.number() }, async ({ a, b }) => ({
  content: [{ type: "text", text: String(a + b) }]
}));
server.resource("about", "info://about", { description: "What this server is", mimeType: "text/plain" }, async uri => ({
  contents: [{ uri: uri.href, mimeType: "text/plain", text: "A quickstart server." }]
}));
server.resource("greeting", new ResourceTemplate("greeting://{name}", { list: undefined, complete: { name: startingWith } }), async (uri, { name }) => ({
  contents: [{ uri: uri.href, text: `Hello, ${name}!` }]
}));
server.prompt("introduce", "Introduce somebody", { name: completable(z.string(), startingWith) }, ({ name }) => ({
  messages: [{ role: "user", content: { type: "text", text: `Introduce ${name} in one sentence.` } }]
}));
await server.connect(new StdioServerTransport());
