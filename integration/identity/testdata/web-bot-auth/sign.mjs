// Signs requests with the npm package web-bot-auth. It writes its key directory as a
// line of JSON. Each line of its input is a request, for which it writes a line with
// the fields of the signature.
import { createInterface } from "node:readline";
import { jwkToKeyID, helpers, signatureHeaders } from "web-bot-auth";
import { signerFromJWK } from "web-bot-auth/crypto";

const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
const jwk = await crypto.subtle.exportKey("jwk", pair.privateKey);
const signer = await signerFromJWK(jwk);
const kid = await jwkToKeyID(jwk, helpers.WEBCRYPTO_SHA256, helpers.BASE64URL_DECODE);
console.log(JSON.stringify({ keys: [{ kty: jwk.kty, crv: jwk.crv, x: jwk.x, kid, use: "sig" }] }));

const forms = {
  // The field is a String, and the signature covers all of it. This is the default of the package.
  string: { field: (agent) => `"${agent}"`, components: undefined },
  // The field is a Dictionary, and the signature covers all of it.
  dictionary: { field: (agent) => `sig1="${agent}"`, components: undefined },
  // The signature claims to cover one member of the field. The package then signs the
  // whole field, contrary to RFC 9421, section 2.1.2.
  member: {
    field: (agent) => `sig1="${agent}"`,
    components: ["@authority", { name: "signature-agent", parameters: new Map([["key", "sig1"]]) }],
  },
  // The signature covers all components of a request without a body.
  everything: {
    field: (agent) => `sig1="${agent}"`,
    components: ["@method", "@authority", "@scheme", "@path", "@query", "@target-uri", "signature-agent"],
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { url, agent, form, created, expires } = JSON.parse(line);
  const { field, components } = forms[form];
  const fields = { "Signature-Agent": field(agent) };
  const request = new Request(url, { headers: fields });
  const signed = await signatureHeaders(request, signer, {
    created: new Date(created), expires: new Date(expires), components,
  });
  console.log(JSON.stringify({ ...fields, ...signed }));
}
