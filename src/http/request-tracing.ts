/** Spans of requests, as the edge sees them: where they begin and end. What makes them is plugged in. */

/** One request that is traced. */
export interface RequestSpan {
  /** For whoever does a part of the work: the `traceparent` under which that part belongs. */
  readonly traceparent: string
  /** `status` 0: the caller was gone before there was an answer. */
  end(status: number): void
}

export interface RequestTracing {
  /** Goes on with the trace that the headers name, or begins one. `operation` is null where there is no route. */
  begin(
    operation: string | null,
    request: { readonly method: string; readonly headers: ReadonlyMap<string, string> },
  ): RequestSpan
}
