"""Roles of accounts per contest and per problem: what they give, who has them, and how they are granted."""
