// McpServer of @modelcontextprotocol/sdk 1.x from 1.13. argv: a port for Streamable HTTP, none for stdio.
import { randomUUID } from "node:crypto";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { z } from "zod";

const NAMES = ["Ada", "Alan", "Barbara", "Grace"];
const startingWith = value => NAMES.filter(name => name.startsWith(value));

function build() {
  const server = new McpServer({ name: "quickstart", version: "1.0.0" }, { capabilities: { logging: {} } });
  server.registerTool(
    "add",
    { title: "Addition", description: "Add two numbers", inputSchema: { a: z.number(), b: z.number() }, annotations: { readOnlyHint: true } },
    async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] })
  );
  server.registerTool(
    "measure",
    {
      title: "Measure a text",
      description: "Count the characters and words of a text",
      inputSchema: { text: z.string() },
      outputSchema: { characters: z.number(), words: z.number() },
      annotations: { readOnlyHint: true }
    },
    async ({ text }) => {
      const counts = { characters: text.length, words: text.split(/\s+/).filter(Boolean).length };
      return { content: [{ type: "text", text: JSON.stringify(counts) }], structuredContent: counts };
    }
  );
  server.registerResource(
    "about",
    "info://about",
    { title: "About", description: "What this server is", mimeType: "text/plain" },
    async uri => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "A quickstart server." }] })
  );
  server.registerResource(
    "greeting",
    new ResourceTemplate("greeting://{name}", { list: undefined, complete: { name: startingWith } }),
    { title: "Greeting", description: "A greeting for somebody" },
    async (uri, { name }) => ({ contents: [{ uri: uri.href, text: `Hello, ${name}!` }] })
  );
  server.registerPrompt(
    "introduce",
    { title: "Introduction", description: "Introduce somebody", argsSchema: { name: completable(z.string(), startingWith) } },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Introduce ${name} in one sentence.` } }] })
  );
  return server;
}

const port = process.argv[2];
if (!port) await build().connect(new StdioServerTransport());
else {
  const { default: express } = await import("express");
  const sessions = {};
  const app = express().use(express.json());
  app.all("/mcp", async (request, response) => {
    const id = request.headers["mcp-session-id"];
    let transport = sessions[id];
    if (id && !transport) return response.status(404).end();
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: opened => void (sessions[opened] = transport),
        enableDnsRebindingProtection: true,
        allowedHosts: [`127.0.0.1:${port}`],
        allowedOrigins: [`http://127.0.0.1:${port}`]
      });
      transport.onclose = () => delete sessions[transport.sessionId];
      await build().connect(transport);
    }
    await transport.handleRequest(request, response, request.body);
  });
  app.listen(Number(port), "127.0.0.1");
}
