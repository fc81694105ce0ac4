"""Language models behind the protocols: embedder, extractor and classifier over `LanguageModel`.

    ollama, openai, anthropic      one API each, thin: send one request, name what went wrong
    served                         a `LanguageModel` over an API: retries, limits, strict JSON
    classifier, extractor          what is asked, and how the answer becomes a record
    embedder                       vectors, for the APIs that have them

A language model's answer can't be had again bit for bit, even at temperature 0: servers batch,
weights behind a name change. The store's cache decides: the first usable answer to a text or pair
stays, under an identity that names the model and the version of the prompt, until one of the two
changes. Failures are never cached; the next run asks again.

Stored text goes into a prompt as JSON data and nowhere else; see `prompts`.
"""
