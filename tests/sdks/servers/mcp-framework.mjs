// MCPServer of mcp-framework 0.2. argv: a port for Streamable HTTP, none for stdio.
import { MCPPrompt, MCPResource, MCPServer, MCPTool } from "mcp-framework";
import { z } from "zod";

class Add extends MCPTool {
  name = "add";
  description = "Add two numbers";
  annotations = { readOnlyHint: true };
  schema = z.object({ a: z.number().describe("One"), b: z.number().describe("The other") });
  execute = async ({ a, b }) => a + b;
}
class Measure extends MCPTool {
  name = "measure";
  description = "Count the characters and words of a text";
  annotations = { readOnlyHint: true };
  schema = z.object({ text: z.string().describe("Any text") });
  outputSchemaShape = z.object({ characters: z.number().describe("Characters"), words: z.number().describe("Words") });
  execute = async ({ text }) => ({ characters: text.length, words: text.split(/\s+/).filter(Boolean).length });
}
class About extends MCPResource {
  uri = "info://about";
  name = "about";
  description = "What this server is";
  mimeType = "text/plain";
  read = async () => [{ uri: this.uri, mimeType: this.mimeType, text: "A quickstart server." }];
}
const complete = async (_, value) => ({ values: ["Ada", "Alan", "Barbara", "Grace"].filter(name => name.startsWith(value)) });
class Introduce extends MCPPrompt {
  name = "introduce";
  description = "Introduce somebody";
  schema = { name: { type: z.string(), description: "Who", required: true } };
  complete = complete;
  generateMessages = async ({ name }) => [{ role: "user", content: { type: "text", text: `Introduce ${name} in one sentence.` } }];
}

const port = process.argv[2];
const transport = port ? { type: "http-stream", options: { port: Number(port) } } : { type: "stdio" };
const server = new MCPServer({ name: "quickstart", version: "1.0.0", transport });
[Add, Measure].forEach(tool => server.addTool(tool));
server.addResource(About);
server.addPrompt(Introduce);
await server.start();
