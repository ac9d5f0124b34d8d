// McpServer of tmcp 1.x. argv: a port for Streamable HTTP, none for stdio.
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { StdioTransport } from "@tmcp/transport-stdio";
import { McpServer } from "tmcp";
import { z } from "zod";

const server = new McpServer(
  { name: "quickstart", version: "1.0.0", description: "A quickstart server" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { completions: {}, prompts: {}, resources: {}, tools: {} } }
);
const complete = { name: value => ({ completion: { values: ["Ada", "Alan", "Barbara", "Grace"].filter(name => name.startsWith(value)) } }) };

server.tool(
  { name: "add", description: "Add two numbers", schema: z.object({ a: z.number(), b: z.number() }), annotations: { readOnlyHint: true } },
  async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] })
);
server.tool(
  {
    name: "measure",
    description: "Count the characters and words of a text",
    schema: z.object({ text: z.string() }),
    outputSchema: z.object({ characters: z.number(), words: z.number() }),
    annotations: { readOnlyHint: true }
  },
  async ({ text }) => {
    const counts = { characters: text.length, words: text.split(/\s+/).filter(Boolean).length };
    return { content: [{ type: "text", text: JSON.stringify(counts) }], structuredContent: counts };
  }
);
server.resource({ name: "about", description: "What this server is", uri: "info://about", mimeType: "text/plain" }, async uri => ({
  contents: [{ uri, mimeType: "text/plain", text: "A quickstart server." }]
}));
server.template({ name: "greeting", description: "A greeting for somebody", uri: "greeting://{name}", complete }, async (uri, { name }) => ({
  contents: [{ uri, mimeType: "text/plain", text: `Hello, ${name}!` }]
}));
server.prompt({ name: "introduce", description: "Introduce somebody", schema: z.object({ name: z.string() }), complete }, async ({ name }) => ({
  messages: [{ role: "user", content: { type: "text", text: `Introduce ${name} in one sentence.` } }]
}));

const port = process.argv[2];
if (!port) new StdioTransport(server).listen();
else {
  const { serve } = await import("@hono/node-server");
  const transport = new HttpTransport(server, { path: "/mcp" });
  const fetch = async request => (await transport.respond(request)) ?? new Response(null, { status: 404 });
  serve({ fetch, port: Number(port), hostname: "127.0.0.1" });
}
