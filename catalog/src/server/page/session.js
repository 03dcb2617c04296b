// The holder of the key and the names of owners.

import { Api, Failure } from "./api.js";

export class Session {
  #names = new Map();

  /** `failed` shows an error. */
  constructor(api, who, failed) {
    Object.assign(this, { api, who, failed, kept: null });
  }

  static async open(key, failed) {
    const api = new Api(key);
    return new Session(api, await api.who(), failed);
  }

  get role() {
    const { admin, generator, readonly } = this.who;
    return admin ? "administrator" : generator ? "generator" : readonly ? "read-only" : "agent";
  }

  get readsAll() {
    return this.who.admin || this.who.readonly;
  }

  get changes() {
    return this.who.admin || Boolean(this.who.generator);
  }

  /** Returns true if the key may change what `owner` owns. */
  owns(owner) {
    return this.who.admin || (owner !== null && owner === this.who.generator);
  }

  /** Throws unless the key is an administrator's. */
  requireAdmin() {
    if (!this.who.admin) throw new Failure(403, { message: "it is for administrators" });
  }

  /** Wraps `act` so that its errors are shown. */
  trying = (act) => (...given) => Promise.resolve(act(...given)).catch(this.failed);

  /** Fetches the names of generators that are not known yet. */
  async learn(ids) {
    const unknown = [...new Set(ids)].filter((id) => id && id !== this.who.generator && !this.#names.has(id));
    if (!this.readsAll) return;
    await Promise.all(unknown.map(async (id) => {
      const generator = await this.api.get(`/generators/${id}`).catch(() => null);
      this.#names.set(id, generator?.name ?? id);
    }));
  }

  /** The name of an owner. Call `learn` first. */
  owner(id) {
    if (id === null) return "system";
    return id === this.who.generator ? "own" : this.#names.get(id) ?? id;
  }
}
