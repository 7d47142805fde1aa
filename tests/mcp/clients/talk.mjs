// What the TypeScript SDKs get from a server, over every transport and era they speak: one JSON object on stdout.
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as FirstSse } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as FirstHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [address, token] = process.argv.slice(2);
const url = new URL(address);
const WHO = { name: 'talk', version: '1' };
const SENT = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
const MODERN = { versionNegotiation: { mode: 'auto' } };

const TYPED = { argument: { name: 'type', value: 'blo' }, ref: { type: 'ref/prompt', name: 'write-post' } };

const WAYS = {
  'v1 sse': () => [new FirstClient(WHO), new FirstSse(url, SENT)],
  'v1 http': () => [new FirstClient(WHO), new FirstHttp(url, SENT)],
  'v2 sse': () => [new Client(WHO), new SSEClientTransport(url, SENT)],
  'v2 http': () => [new Client(WHO), new StreamableHTTPClientTransport(url, SENT)],
  'v2 http modern': () => [new Client(WHO, MODERN), new StreamableHTTPClientTransport(url, SENT)],
};

// What the client's promise comes to: a thrown error is an answer too.
const told = async (promise) => {
  try {
    return await promise;
  } catch (error) {
    return { thrown: error.message, code: error.code };
  }
};

async function talk([client, transport]) {
  await client.connect(transport);
  const steps = [];
  const follow = { onprogress: (step) => steps.push([step.progress, step.total, step.message]) };
  // The first SDK takes the schema of the answer before the options.
  const options = client instanceof FirstClient ? [undefined, follow] : [follow];
  const answer = {
    server: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    tools: (await client.listTools()).tools.map((tool) => tool.name),
    called: await told(client.callTool({ name: 'list_post_types', arguments: { limit: 1 } })),
    refused: await told(client.callTool({ name: 'list_post_types', arguments: { limt: 1 } })),
    unknown: await told(client.callTool({ name: 'list_post_type', arguments: {} })),
    prompt: await told(client.getPrompt({ name: 'improve-seo', arguments: { postId: crypto.randomUUID() } })),
    resource: await told(client.readResource({ uri: 'cms://guidelines' })),
    absent: await told(client.readResource({ uri: 'cms://nothing' })),
    completion: await told(client.complete(TYPED)),
    followed: await told(client.callTool({ name: 'sample_steps', arguments: { steps: 2 } }, ...options)),
    steps,
  };
  await client.close();
  return answer;
}

const answers = {};
await Promise.all(
  Object.entries(WAYS).map(async ([name, way]) => {
    answers[name] = await told(talk(way()));
  }),
);
process.stdout.write(JSON.stringify(answers));
process.exit(0);
