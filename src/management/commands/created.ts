/** The answer about a thing that did not exist before. Its status tells callers that it was created (contract B.7). */
export class Created<Body> {
  readonly body: Body

  constructor(body: Body) {
    this.body = body
  }
}
