// McpServer of @modelcontextprotocol/server 2.x. argv: a port for Streamable HTTP, none for stdio.
import { createServer } from "node:http";
import { McpServer, ResourceTemplate, completable, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const NAMES = ["Ada", "Alan", "Barbara", "Grace"];
const startingWith = value => NAMES.filter(name => name.startsWith(value));

function build() {
  const server = new McpServer({ name: "quickstart", version: "1.0.0" }, { capabilities: { logging: {} } });
  server.registerTool(
    "add",
    {
      title: "Addition",
      description: "Add two numbers",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      annotations: { readOnlyHint: true }
    },
    async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] })
  );
  server.registerTool(
    "measure",
    {
      title: "Measure a text",
      description: "Count the characters and words of a text",
      inputSchema: z.object({ text: z.string() }),
      outputSchema: z.object({ characters: z.number(), words: z.number() }),
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
    { title: "Introduction", description: "Introduce somebody", argsSchema: z.object({ name: completable(z.string(), startingWith) }) },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Introduce ${name} in one sentence.` } }] })
  );
  return server;
}

const port = process.argv[2];
if (!port) serveStdio(build);
else {
  const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = await import("@modelcontextprotocol/node");
  const handle = toNodeHandler(createMcpHandler(build));
  const validations = [localhostHostValidation(), localhostOriginValidation()];
  createServer((request, response) => {
    if (validations.every(holds => holds(request, response))) handle(request, response);
  }).listen(Number(port), "127.0.0.1");
}
