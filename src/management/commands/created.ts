/** An answer about something that did not exist before, where callers tell the two apart by the status (contract B.7). */
export class Created<Body> {
  readonly body: Body

  constructor(body: Body) {
    this.body = body
  }
}
