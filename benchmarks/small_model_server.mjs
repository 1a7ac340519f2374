// A small chat model of llama.cpp behind `POST /v1/chat/completions`, for benchmarks of guardrails on real answers.
//
//   npm install --ignore-scripts node-llama-cpp @node-llama-cpp/linux-x64
//   node small_model_server.mjs MODEL.gguf PORT [ANSWERS.json]
//
// Greedy, at most 120 tokens an answer, one request at a time, in one thread: with more threads than processors to spare
// llama.cpp waits for itself. Answers are kept in ANSWERS.json, so that the same question costs nothing again. Messages
// are written in ChatML, the form of SmolLM2 and Qwen.
import fs from "node:fs";
import http from "node:http";
import {getLlama} from "node-llama-cpp";

const MOST_TOKENS = 120;
const [file, port, answers] = process.argv.slice(2);
const llama = await getLlama({gpu: false, build: "never"});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: 6144, threads: 1});
const sequence = context.getSequence();
const kept = new Map(answers && fs.existsSync(answers) ? JSON.parse(fs.readFileSync(answers, "utf8")) : []);
let last = Promise.resolve();

function prompt(messages) {
  const turns = messages.map(({role, content}) => `<|im_start|>${role}\n${content}<|im_end|>\n`);
  return `${turns.join("")}<|im_start|>assistant\n`;
}

async function complete(messages) {
  const key = JSON.stringify(messages);
  if (kept.has(key)) return kept.get(key);
  await sequence.clearHistory();
  const tokens = model.tokenize(prompt(messages), true);
  const out = [];
  const options = {temperature: 0, repeatPenalty: {punishTokens: () => out.slice(-64), penalty: 1.1}};
  for await (const token of sequence.evaluate(tokens, options)) {
    if (model.isEogToken(token) || out.length >= MOST_TOKENS) break;
    out.push(token);
  }
  const said = {content: model.detokenize(out), in: tokens.length, out: out.length};
  kept.set(key, said);
  if (answers) fs.writeFileSync(answers, JSON.stringify([...kept]));
  return said;
}

function completion(said) {
  const message = {role: "assistant", content: said.content};
  const usage = {prompt_tokens: said.in, completion_tokens: said.out, total_tokens: said.in + said.out};
  return {
    id: "completion", object: "chat.completion", created: 0, model: "small",
    choices: [{index: 0, finish_reason: said.out < MOST_TOKENS ? "stop" : "length", message}], usage,
  };
}

http.createServer((request, response) => {
  let body = "";
  request.on("data", part => { body += part; });
  request.on("end", () => {
    last = last.then(async () => {
      response.setHeader("content-type", "application/json");
      try {
        response.end(JSON.stringify(completion(await complete(JSON.parse(body).messages))));
      } catch (error) {
        response.statusCode = 500;
        response.end(JSON.stringify({error: {message: String(error)}}));
      }
    });
  });
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));
